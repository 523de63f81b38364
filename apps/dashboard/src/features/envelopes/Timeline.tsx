import { useClipboard } from "@mantine/hooks";
import { type Envelope, listEvents } from "../../../../../server/features/envelopes/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useSession } from "../../session.tsx";
import { inZone } from "./format.ts";
import { actorName, sentenceOf, toneOf } from "./sentences.ts";
import type { Trail, TrailEntry } from "./useTrail.ts";

/** What happened, newest first, and whether the record of it is whole. */
export function Timeline({ envelope, trail }: { envelope: Envelope; trail: Trail }) {
  const t = translator("envelopes");
  const { entries, state } = trail;
  const newest = entries.at(-1);
  return (
    <section aria-label={t("trail.title")} className="envelope-trail">
      <Verdict envelope={envelope.id} />
      <p className="soft envelope-following" data-state={state}>
        {state === "interrupted" && t("page.interrupted")}
        {state === "following" && t("page.following")}
        {state === "ended" && t("page.ended")}
        {state === "connecting" && "\u00a0"}
      </p>
      <p className="spoken" role="status">
        {newest ? sentenceOf(newest, envelope) : ""}
      </p>
      {entries.length === 0 && state === "connecting" && <Loading rows={4} height={44} />}
      <ol reversed>
        {entries.toReversed().map((entry) => (
          <Entry key={entry.seq} entry={entry} envelope={envelope} />
        ))}
      </ol>
    </section>
  );
}

function Verdict({ envelope }: { envelope: string }) {
  const t = translator("envelopes");
  const timeZone = useSession().organization?.timeZone;
  const events = useEndpoint(listEvents, { params: { id: envelope }, query: { limit: "1" } });
  if (events.data) {
    const { valid, length, brokenAtSeq, checkedAt } = events.data.verification;
    if (!valid) {
      return (
        <div className="notice bad envelope-verdict" role="alert" data-valid="false">
          <strong>{t("trail.broken")}</strong>
          {t("trail.brokenText", { seq: brokenAtSeq ?? "?" })}
        </div>
      );
    }
    return (
      <div className="notice envelope-verdict" data-valid="true">
        <strong>{t("trail.valid")}</strong>
        {t("trail.validText", { count: length, at: inZone(checkedAt, timeZone) })}
      </div>
    );
  }
  if (events.isError) return <Failure error={events.error} />;
  return <div className="notice envelope-verdict">{t("trail.checking")}</div>;
}

function Entry({ entry, envelope }: { entry: TrailEntry; envelope: Envelope }) {
  const t = translator("envelopes");
  return (
    <li className="envelope-entry" data-tone={toneOf(entry)} data-type={entry.type}>
      <div className="envelope-sentence">
        <span dir="auto">{sentenceOf(entry, envelope)}</span>
        <When at={entry.at} />
      </div>
      <details>
        <summary aria-label={t("trail.detailsOf", { seq: entry.seq })}>{t("trail.details")}</summary>
        <Details entry={entry} />
      </details>
    </li>
  );
}

function Details({ entry }: { entry: TrailEntry }) {
  const t = translator("envelopes");
  const clipboard = useClipboard({ timeout: 3000 });
  const timeZone = useSession().organization?.timeZone;
  const { actor } = entry;
  const email = actor.email && actor.email !== actorName(actor) ? ` (${actor.email})` : "";
  return (
    <>
      <dl className="envelope-facts">
        <dt>{t("trail.at")}</dt>
        <dd>
          {inZone(entry.at, timeZone)} <code>{entry.at}</code>
        </dd>
        <dt>{t("trail.actor")}</dt>
        <dd dir="auto">
          {actorName(actor)}
          {email}
        </dd>
        {entry.ip && (
          <>
            <dt>{t("trail.ip")}</dt>
            <dd>
              <code>{entry.ip}</code>
            </dd>
          </>
        )}
        {entry.userAgent && (
          <>
            <dt>{t("trail.userAgent")}</dt>
            <dd>{entry.userAgent}</dd>
          </>
        )}
        <dt>{t("trail.hash")}</dt>
        <dd>
          <code>{entry.hash}</code>
        </dd>
      </dl>
      <button type="button" className="plain" onClick={() => clipboard.copy(JSON.stringify(entry, null, 2))}>
        {clipboard.copied ? t("page.copied") : t("trail.copyJson")}
      </button>
      <span className="spoken" role="status">
        {clipboard.copied ? t("page.copied") : ""}
      </span>
    </>
  );
}
