import { Button } from "@mantine/core";
import { type Envelope, getEnvelope } from "../../../../../server/features/envelopes/contract.ts";
import { retryEnvelope } from "../../../../../server/features/envelopes/dashboard-contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { isStuck } from "./status.ts";

/** What holds an envelope up, since when, and the way to have it tried again. */
export function StuckNotice({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const manages = useCan("org:manage");
  const act = useAct(retryEnvelope, {
    changes: [getEnvelope],
    onDone: () => notify({ message: t("stuck.retried"), tone: "good" }),
  });
  const { failure, status, seal } = envelope;
  const lost = status === "voided" && failure !== null;
  if (failure === null || !(isStuck(envelope) || lost)) return null;
  // While the appliance itself goes on trying, nobody needs to do anything.
  const trying = failure.code.endsWith("-delayed") && seal !== "failed";
  return (
    <section className="notice bad envelope-stuck" aria-label={titleOf(envelope)}>
      <strong>{titleOf(envelope)}</strong>
      <p dir="auto">{failure.message}</p>
      <small>
        {t("stuck.code")}: <code>{failure.code}</code> · {t("stuck.since")} <When at={failure.at} />
      </small>
      {!lost && trying && <p>{t("stuck.automatic")}</p>}
      {!lost && !trying && !manages && <p>{t("stuck.ask")}</p>}
      {!lost && !trying && manages && (
        <Button
          size="sm"
          variant="default"
          loading={act.isPending}
          onClick={() => act.mutate({ params: { id: envelope.id } })}
        >
          {t("stuck.retry")}
        </Button>
      )}
      {act.isError && <Failure error={act.error} />}
    </section>
  );
}

function titleOf({ status, seal }: Envelope): string {
  const t = translator("envelopes");
  if (seal === "failed") return t("stuck.failed");
  if (status === "completed") return t("stuck.seal");
  return status === "sent" ? t("stuck.sign") : t("stuck.render");
}
