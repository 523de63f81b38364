import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useCopy } from "../../../../shared/ui/kit/useCopy.ts";
import { useCan, useSession } from "../../session.tsx";
import { inZone } from "./format.ts";
import { isInProgress, progressOf, stateOf, turnOf } from "./status.ts";
import { VoidDialog } from "./VoidDialog.tsx";

/** Title, id, state and what can be done with the whole envelope. */
export function EnvelopeHead({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const mayVoid = useCan("envelope:void");
  const maySend = useCan("envelope:send");
  const [voiding, setVoiding] = useState(false);
  const { tone, label } = stateOf(envelope);
  const turn = turnOf(envelope);
  return (
    <>
      <PageHeader
        title={envelope.title}
        back={{ to: "/envelopes", label: t("page.back") }}
        description={
          <>
            <div className="envelope-state" role="status">
              <StatusBadge tone={tone}>{label}</StatusBadge>
              {envelope.testMode && <span className="envelope-test">{t("page.test")}</span>}
              <span>{progressOf(envelope).text}</span>
              {turn && <span dir="auto">{turn}</span>}
            </div>
            <Id id={envelope.id} />
          </>
        }
        actions={
          <Group gap="xs">
            {maySend && (
              <Button
                variant="default"
                renderRoot={(props) => <Link {...props} to="/send" search={{ template: envelope.template }} />}
              >
                {t("page.another")}
              </Button>
            )}
            {mayVoid && isInProgress(envelope) && (
              <Button variant="outline" color="brick" className="envelope-void" onClick={() => setVoiding(true)}>
                {t("void.open")}
              </Button>
            )}
          </Group>
        }
      />
      <End envelope={envelope} />
      {voiding && <VoidDialog envelope={envelope} onClose={() => setVoiding(false)} />}
    </>
  );
}

function Id({ id }: { id: string }) {
  const t = translator("envelopes");
  const { copied, copy } = useCopy();
  return (
    <div className="envelope-id">
      <code>{id}</code>
      <button type="button" className="plain" onClick={() => void copy(id)}>
        {copied ? t("page.copied") : t("page.copyId")}
      </button>
      <span className="spoken" role="status">
        {copied ? t("page.copied") : ""}
      </span>
    </div>
  );
}

/** Why and when it ended without being completed. */
function End({ envelope }: { envelope: Envelope }) {
  const text = useEnd(envelope);
  if (text === null) return null;
  const bad = envelope.status === "declined" || envelope.voidReason === "render_failed";
  return (
    <p className={bad ? "notice bad" : "notice"} dir="auto">
      {text}
    </p>
  );
}

function useEnd(envelope: Envelope): string | null {
  const t = translator("envelopes");
  const timeZone = useSession().organization?.timeZone;
  const { status, voidedAt, voidReason, declinedAt, declinedBy, declinedReason, expiredAt, recipients } = envelope;
  const at = voidedAt ?? declinedAt ?? expiredAt;
  if (at === null) return null;
  const when = inZone(at, timeZone);
  if (status === "voided") {
    if (voidReason === "render_failed") return t("ended.renderFailed", { at: when });
    return t("ended.voided", { at: when, reason: voidReason ?? "" });
  }
  if (status === "declined") {
    const name = recipients.find(({ id }) => id === declinedBy)?.name ?? t("trail.somebody");
    return t("ended.declined", { name, at: when, reason: declinedReason ?? "" });
  }
  return status === "expired" ? t("ended.expired", { at: when }) : null;
}
