import type { CarbonCopy, Envelope, Recipient } from "../../../../../server/features/envelopes/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { HandOver } from "./HandOver.tsx";
import { Resend } from "./Resend.tsx";
import { hasTurn, isInProgress, type Tone } from "./status.ts";

/** Who signs, in which order, and how far each of them is; and who gets a copy. */
export function People({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const turns = [...Map.groupBy(envelope.recipients, ({ order }) => order)].toSorted(([a], [b]) => a - b);
  return (
    <section className="envelope-card" aria-labelledby="people">
      <h2 id="people">{t("people.title")}</h2>
      {turns.map(([order, people], index) => (
        <div key={order} className="envelope-turn">
          {turns.length > 1 && (
            <h3>
              {t("people.turn", { turn: index + 1 })}
              {people.length > 1 && <span className="soft"> · {t("people.together", { count: people.length })}</span>}
              {people.some(hasTurn) && <span className="envelope-now">{t("people.now")}</span>}
            </h3>
          )}
          <ul>
            {people.map((recipient) => (
              <Person key={recipient.id} envelope={envelope} recipient={recipient} />
            ))}
          </ul>
        </div>
      ))}
      {envelope.cc.length > 0 && <Copies envelope={envelope} />}
    </section>
  );
}

const tones: Record<Recipient["status"], Tone> = {
  pending: "neutral",
  sent: "waiting",
  viewed: "busy",
  completed: "good",
  declined: "bad",
  canceled: "neutral",
};

function Person({ envelope, recipient }: { envelope: Envelope; recipient: Recipient }) {
  const t = translator("envelopes");
  const maySend = useCan("envelope:send");
  const { status, kind, delivery, declineReason, deliveryError } = recipient;
  const automatic = kind === "countersigner";
  const asked = isInProgress(envelope) && hasTurn(recipient);
  // Who signed already needs a code to read it again.
  const reads = status === "completed" && (isInProgress(envelope) || envelope.status === "completed");
  const handsOver = recipient.verification === "operator_delivered" && (asked || reads);
  return (
    <li className="envelope-person" data-status={status}>
      <div className="envelope-who">
        <div className="envelope-name">
          <b dir="auto">{recipient.name}</b>
          <span className="soft" dir="auto">
            {recipient.role}
          </span>
        </div>
        <span className="envelope-address">{recipient.email}</span>
        <small className="soft">
          {automatic ? t("people.countersigner") : t(`people.verification.${recipient.verification}`)}
          {delivery === "embedded" && ` · ${t("people.embedded")}`}
        </small>
      </div>
      <StatusBadge tone={tones[status]}>{t(`people.status.${status}`)}</StatusBadge>
      <Times recipient={recipient} />
      {declineReason && (
        <p className="envelope-told" dir="auto">
          {t("people.reason")}: {declineReason}
        </p>
      )}
      {deliveryError && (
        <p className="envelope-told bad" role="alert">
          <strong>{t("people.deliveryError")}</strong> <When at={deliveryError.at} />
          <br />
          <span dir="auto">{deliveryError.message}</span> <code>{deliveryError.code}</code>
        </p>
      )}
      {maySend && !automatic && (asked || handsOver) && (
        <div className="envelope-acts">
          {asked && <Resend envelope={envelope.id} recipient={recipient} />}
          {handsOver && <HandOver envelope={envelope} recipient={recipient} />}
        </div>
      )}
    </li>
  );
}

const moments = ["sentAt", "lastSentAt", "viewedAt", "verifiedAt", "completedAt", "declinedAt"] as const;

function Times({ recipient }: { recipient: Recipient }) {
  const t = translator("envelopes");
  const shown = moments.flatMap((name) => {
    const at = recipient[name];
    return at === null || (name === "lastSentAt" && at === recipient.sentAt) ? [] : [{ name, at }];
  });
  if (shown.length === 0) return null;
  return (
    <dl className="envelope-times">
      {shown.map(({ name, at }) => (
        <div key={name}>
          <dt>{t(`people.${name}`)}</dt>
          <dd>
            <When at={at} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Copies({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const ended = !isInProgress(envelope) && envelope.status !== "completed";
  const said = ({ notifiedAt }: CarbonCopy) => {
    if (notifiedAt) {
      return (
        <>
          {t("people.ccNotified")} <When at={notifiedAt} />
        </>
      );
    }
    return ended ? t("people.ccNever") : t("people.ccWaiting");
  };
  return (
    <div className="envelope-turn">
      <h3>{t("people.cc")}</h3>
      <ul>
        {envelope.cc.map((copy) => (
          <li key={copy.id} className="envelope-copy">
            <span dir="auto">
              {copy.name && <b>{copy.name} </b>}
              <span className="envelope-address">{copy.email}</span>
            </span>
            <small className="soft">{said(copy)}</small>
          </li>
        ))}
      </ul>
    </div>
  );
}
