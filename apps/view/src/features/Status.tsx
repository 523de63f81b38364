import { Progress } from "@mantine/core";
import { useEffect } from "react";
import type { ViewerEnvelope } from "../../../../server/features/viewers/contract.ts";
import { dateTime, translator } from "../../../shared/i18n.ts";
import { Brand } from "../../../shared/ui/Brand.tsx";
import { Check, Clock, Cross } from "../../../shared/ui/icons.tsx";
import { StatusBadge, type Tone } from "../../../shared/ui/kit/StatusBadge.tsx";
import type { Access } from "./access.ts";
import { DocumentCard } from "./DocumentCard.tsx";
import { useStatus } from "./useStatus.ts";

/** How the signing goes: state, people, document. */
export function Status({ entry, onEnd }: { entry: Access; onEnd: (reason: unknown) => void }) {
  const t = translator("view");
  const { token, status, live } = useStatus(entry, onEnd);
  const { envelope, sender, recipients } = status;
  const state = stateOf(envelope);
  const done = recipients.filter((one) => one.status === "completed").length;
  useEffect(() => {
    document.title = `${envelope.title} · Signet`;
  }, [envelope.title]);
  return (
    <div className="stage">
      <header>
        {envelope.testMode && <p className="test-banner">{t("testMode")}</p>}
        <div className="bar">
          <Brand />
          <span className="view-sender soft" dir="auto">
            {sender.organization}
          </span>
        </div>
      </header>
      <main className="view">
        <div className="view-head">
          <p className="soft">{t("from", { sender: sender.organization })}</p>
          <h1 dir="auto">{envelope.title}</h1>
          <StatusBadge tone={tones[state]}>{t(`state.${state}.name`)}</StatusBadge>
        </div>
        <section className="card" aria-labelledby="progress">
          <h2 id="progress">{t("progress.title")}</h2>
          <p aria-live="polite">
            {t(`state.${state}.text`)}{" "}
            <span className="soft">{t("progress.count", { count: recipients.length, done })}</span>
          </p>
          <Progress
            value={(100 * done) / recipients.length}
            color="var(--accent)"
            size="sm"
            radius="xl"
            aria-label={t("progress.title")}
          />
          <ul className="view-people">
            {[...recipients]
              .sort((a, b) => a.order - b.order)
              .map((person) => (
                <Person key={`${person.role} ${person.name}`} person={person} />
              ))}
          </ul>
          <Times envelope={envelope} />
        </section>
        <DocumentCard status={status} token={token} />
        <p className="soft view-foot">{live ? t("foot.live") : t("foot.stale")}</p>
      </main>
    </div>
  );
}

type State = "preparing" | "waiting" | "sealing" | "sealed" | "unsealed" | "declined" | "voided" | "expired";
const tones: Record<State, Tone> = {
  preparing: "busy",
  waiting: "waiting",
  sealing: "busy",
  sealed: "good",
  unsealed: "waiting",
  declined: "bad",
  voided: "neutral",
  expired: "bad",
};

/** Status and seal as one word for people. */
function stateOf({ status, seal }: ViewerEnvelope["envelope"]): State {
  switch (status) {
    case "rendering":
      return "preparing";
    case "sent":
      return "waiting";
    case "completed":
      return seal === "sealed" ? "sealed" : seal === "failed" ? "unsealed" : "sealing";
    default:
      return status;
  }
}

function Person({ person }: { person: ViewerEnvelope["recipients"][number] }) {
  const t = translator("view");
  const { status, name, role, completedAt } = person;
  const ended = status === "declined" || status === "canceled";
  const Icon = status === "completed" ? Check : ended ? Cross : Clock;
  return (
    <li data-status={status}>
      <Icon size={18} />
      <span>
        <b dir="auto">{name}</b> <span className="soft">{role}</span>
      </span>
      <span className="soft view-what">
        {t(`person.${status}`)}
        {completedAt !== null && <time dateTime={completedAt}>{dateTime(completedAt)}</time>}
      </span>
    </li>
  );
}

function Times({ envelope }: Pick<ViewerEnvelope, "envelope">) {
  const t = translator("view");
  const { sentAt, completedAt, expiresAt, status } = envelope;
  const facts = [
    ["sent", sentAt],
    ["completed", completedAt],
    ["until", status === "sent" ? expiresAt : null],
  ] as const;
  const known = facts.flatMap(([name, at]) => (at === null ? [] : [{ name, at }]));
  if (known.length === 0) return null;
  return (
    <dl className="view-times">
      {known.map(({ name, at }) => (
        <div key={name}>
          <dt>{t(`times.${name}`)}</dt>
          <dd>
            <time dateTime={at}>{dateTime(at)}</time>
          </dd>
        </div>
      ))}
    </dl>
  );
}
