import { Button, Checkbox, Group, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  type Envelope,
  getEnvelope,
  listEnvelopes,
  voidEnvelope,
} from "../../../../../server/features/envelopes/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";

/** Asks why, then ends the envelope. */
export function VoidDialog({ envelope, onClose }: { envelope: Envelope; onClose: () => void }) {
  const t = translator("envelopes");
  const [reason, setReason] = useState("");
  const [notifying, setNotifying] = useState(true);
  const [missing, setMissing] = useState(false);
  const act = useAct(voidEnvelope, {
    changes: [getEnvelope, listEnvelopes],
    onDone: () => {
      notify({ message: t("void.done"), tone: "good" });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = reason.trim();
    setMissing(given === "");
    if (given === "") return;
    act.mutate({ params: { id: envelope.id }, body: { reason: given, notify: notifying } });
  };
  const refused = fieldErrors(act.error)["#/reason"];
  return (
    <Dialog opened onClose={onClose} busy={act.isPending} title={t("void.title")} centered>
      <form onSubmit={submit} noValidate>
        <p>{t("void.text")}</p>
        <Textarea
          label={t("void.reason")}
          description={t("void.reasonHint")}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          maxLength={500}
          autosize
          minRows={2}
          required
          data-autofocus
          error={missing && reason.trim() === "" ? t("void.reasonMissing") : refused}
        />
        <Checkbox
          mt="md"
          label={t("void.notify")}
          checked={notifying}
          onChange={({ currentTarget }) => setNotifying(currentTarget.checked)}
        />
        {act.isError && (
          <div className="envelope-refusal">
            <Failure error={act.error} />
          </div>
        )}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose} disabled={act.isPending}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" color="brick" loading={act.isPending}>
            {t("void.confirm")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
