import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import {
  type Envelope,
  type EnvelopeStatus,
  listEnvelopes,
  type SealStatus,
} from "../../../../../server/features/envelopes/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { StatusBadge, type Tone } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { needingAttention, type Reason } from "./attention.ts";

const shown = 5;
const page = 100;
const tones: Record<Reason, Tone> = { stuck: "bad", delivery: "bad", declined: "bad", expiring: "waiting" };

/** The state of affairs: what needs a look, what waits for others, what was completed. */
export function Overview({ testMode }: { testMode: boolean }) {
  const t = translator("templates");
  const waiting = useList(testMode, { status: "sent" });
  const rendering = useList(testMode, { status: "rendering" });
  const declined = useList(testMode, { status: "declined" });
  const voided = useList(testMode, { status: "voided" });
  const unsealed = useList(testMode, { status: "completed", seal: "pending" });
  const failed = useList(testMode, { status: "completed", seal: "failed" });
  const completed = useList(testMode, { status: "completed" });
  const lists = [waiting, rendering, declined, voided, unsealed, failed, completed];
  const error = lists.find((list) => list.isError)?.error;
  // What is known stays, also while it cannot be fetched anew.
  if (lists.some((list) => list.data === undefined)) return error ? <Failure error={error} /> : <Loading rows={6} />;
  const of = (...some: typeof lists) => some.flatMap((list) => list.data?.data ?? []);
  const attention = needingAttention(of(waiting, rendering, declined, voided, unsealed, failed), Date.now());
  const partial = [waiting, rendering].some((list) => list.data?.hasMore);
  return (
    <div className="overview">
      {error && <Failure error={error} />}
      <Section
        title={t("overview.attention")}
        count={attention.length}
        more={partial}
        empty={t("overview.attentionNone")}
        tone={attention.length > 0 ? "bad" : "good"}
      >
        {attention.slice(0, shown * 2).map(({ envelope, reason }) => (
          <Row key={envelope.id} envelope={envelope} at={envelope.updatedAt}>
            <StatusBadge tone={tones[reason]}>{t(`overview.reason.${reason}`)}</StatusBadge>
          </Row>
        ))}
      </Section>
      <Section
        title={t("overview.waiting")}
        count={of(waiting).length}
        more={waiting.data?.hasMore ?? false}
        empty={t("overview.waitingNone")}
        filter="sent"
      >
        {of(waiting)
          .slice(0, shown)
          .map((envelope) => (
            <Row key={envelope.id} envelope={envelope} at={envelope.sentAt ?? envelope.createdAt}>
              <Progress envelope={envelope} />
            </Row>
          ))}
      </Section>
      <Section
        title={t("overview.completed")}
        count={of(completed).length}
        more={completed.data?.hasMore ?? false}
        empty={t("overview.completedNone")}
        filter="completed"
      >
        {of(completed)
          .slice(0, shown)
          .map((envelope) => (
            <Row key={envelope.id} envelope={envelope} at={envelope.completedAt ?? envelope.updatedAt}>
              <StatusBadge tone={envelope.seal === "sealed" ? "good" : "busy"}>
                {envelope.seal === "sealed" ? t("overview.sealed") : t("overview.sealing")}
              </StatusBadge>
            </Row>
          ))}
      </Section>
    </div>
  );
}

/** Kept fresh while the page is open. */
function useList(testMode: boolean, filter: { status: EnvelopeStatus; seal?: SealStatus }) {
  return useEndpoint(
    listEnvelopes,
    { query: { ...filter, limit: String(page), testMode: testMode ? "1" : "0" } },
    { refetchInterval: 15_000 },
  );
}

type SectionProps = {
  title: string;
  count: number;
  /** There are more than were counted. */
  more: boolean;
  empty: string;
  filter?: EnvelopeStatus;
  tone?: Tone;
  children: ReactNode;
};

function Section({ title, count, more, empty, filter, tone, children }: SectionProps) {
  const t = translator("templates");
  const number = more ? `${count}+` : String(count);
  return (
    <section className="overview-section" data-tone={tone}>
      <header>
        <h2>{title}</h2>
        {filter ? (
          <Link to="/envelopes" search={{ status: filter }} aria-label={t("overview.all", { title, count: number })}>
            {number}
          </Link>
        ) : (
          <span>{number}</span>
        )}
      </header>
      {count === 0 ? <p className="soft">{empty}</p> : <ul>{children}</ul>}
    </section>
  );
}

function Row({ envelope, at, children }: { envelope: Envelope; at: string; children: ReactNode }) {
  return (
    <li>
      <Link to="/envelopes/$id" params={{ id: envelope.id }}>
        {envelope.title}
      </Link>
      <span className="soft overview-people">{envelope.recipients.map(({ name }) => name).join(", ")}</span>
      {children}
      <span className="soft">
        <When at={at} />
      </span>
    </li>
  );
}

function Progress({ envelope }: { envelope: Envelope }) {
  const t = translator("templates");
  const done = envelope.recipients.filter(({ status }) => status === "completed").length;
  return (
    <StatusBadge tone="waiting">{t("overview.progress", { done, count: envelope.recipients.length })}</StatusBadge>
  );
}
