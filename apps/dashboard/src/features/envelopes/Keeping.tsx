import { Button, Group, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import {
  getEnvelopeRetention,
  holdEnvelope,
  releaseEnvelope,
} from "../../../../../server/features/retention/contract.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { actorName } from "./sentences.ts";

/** When the documents go, and what keeps them. */
export function Keeping({ envelope: { id } }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const confirm = useConfirm();
  const canManage = useCan("org:manage");
  const [asking, ask] = useDisclosure(false);
  const retention = useEndpoint(getEnvelopeRetention, { params: { id } });
  const release = useAct(releaseEnvelope, { changes: [getEnvelopeRetention] });
  if (!retention.data) return null;
  const { hold, deleteAfter, deletedAt } = retention.data;
  const end = async () => {
    const question = { title: t("retention.releaseTitle"), text: t("retention.releaseText") };
    if (await confirm({ ...question, confirm: t("retention.release") })) release.mutate({ params: { id } });
  };
  return (
    <section className="envelope-card" aria-labelledby="keeping">
      <h2 id="keeping">{t("retention.title")}</h2>
      {deletedAt !== null && (
        <>
          <p>
            {t("retention.deletedAt")} <When at={deletedAt} />
          </p>
          <p className="soft">{t("retention.deletedText")}</p>
        </>
      )}
      {hold !== null && (
        <>
          <p>
            <strong>{t("retention.held")}</strong> <When at={hold.at} />
          </p>
          <p className="soft" dir="auto">
            {t("retention.heldBy", { name: actorName(hold.by), reason: hold.reason })}
          </p>
        </>
      )}
      {deleteAfter !== null && (
        <p>
          {t("retention.deleteAfter")} <When at={deleteAfter} />
        </p>
      )}
      {deletedAt === null && hold === null && deleteAfter === null && <p className="soft">{t("retention.forever")}</p>}
      {release.isError && <Failure error={release.error} />}
      {canManage && deletedAt === null && (
        <Button variant="default" loading={release.isPending} onClick={() => (hold === null ? ask.open() : void end())}>
          {hold === null ? t("retention.hold") : t("retention.release")}
        </Button>
      )}
      {asking && <HoldDialog id={id} onClose={ask.close} />}
    </section>
  );
}

function HoldDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = translator("envelopes");
  const [reason, setReason] = useState("");
  const act = useAct(holdEnvelope, { changes: [getEnvelopeRetention], onDone: onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act.mutate({ params: { id }, body: { reason } });
  };
  return (
    <Dialog opened onClose={onClose} busy={act.isPending} title={t("retention.hold")} centered>
      <form onSubmit={submit} noValidate>
        <Textarea
          label={t("retention.reason")}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          maxLength={500}
          autosize
          minRows={2}
          required
          data-autofocus
        />
        {act.isError && <Failure error={act.error} />}
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={onClose} disabled={act.isPending}>
            {t("retention.cancel")}
          </Button>
          <Button type="submit" loading={act.isPending} disabled={reason.trim() === ""}>
            {t("retention.hold")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
