import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { declineSigning, type SigningResult } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import type { ScreenProps } from "../../routes.tsx";
import { isOver } from "./over.ts";

type Props = ScreenProps & { onClose: () => void; onDeclined: (result: SigningResult) => Promise<void> };

/** Declining ends the envelope for everybody, so it asks for a reason and says so. */
export function DeclineDialog({ view, access, reload, onClose, onDeclined }: Props) {
  const t = translator("sign");
  const [reason, setReason] = useState("");
  const decline = useMutation({
    mutationFn: () => callEndpoint(declineSigning, { token: access.token, body: { reason: reason.trim() } }),
    onSuccess: onDeclined,
    onError: (error) => void (isOver(error) && reload()),
  });
  const busy = decline.isPending || decline.isSuccess;
  return (
    <Dialog opened onClose={onClose} busy={busy} title={t("decline.title")} centered>
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
        <Button variant="default" onClick={onClose} disabled={busy}>
          {t("decline.keep")}
        </Button>
        <Button color="brick" disabled={reason.trim() === ""} loading={busy} onClick={() => decline.mutate()}>
          {t("decline.confirm")}
        </Button>
      </div>
    </Dialog>
  );
}
