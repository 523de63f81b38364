import { Button, Modal, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { declineSigning, type SigningResult } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import type { ScreenProps } from "../../routes.tsx";

type Props = ScreenProps & { onClose: () => void; onDeclined: (result: SigningResult) => Promise<void> };

/** Declining ends the envelope for everybody, so it asks for a reason and says so. */
export function DeclineDialog({ view, access, onClose, onDeclined }: Props) {
  const t = translator("sign");
  const [reason, setReason] = useState("");
  const decline = useMutation({
    mutationFn: () => callEndpoint(declineSigning, { token: access.token, body: { reason: reason.trim() } }),
    onSuccess: onDeclined,
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("decline.title")}
      centered
      closeButtonProps={{ "aria-label": translator("common")("close") }}
    >
      <p className="tight">{t("decline.intro", { organization: view.sender.organization })}</p>
      <Textarea
        data-autofocus
        label={t("decline.reason")}
        description={t("decline.reasonHint")}
        required
        maxLength={1000}
        autosize={false}
        rows={4}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        mb="md"
      />
      {decline.isError && <Failure error={decline.error} />}
      <div className="actions">
        <Button variant="default" onClick={onClose}>
          {t("decline.keep")}
        </Button>
        <Button
          color="brick"
          disabled={reason.trim() === ""}
          loading={decline.isPending}
          onClick={() => decline.mutate()}
        >
          {t("decline.confirm")}
        </Button>
      </div>
    </Modal>
  );
}
