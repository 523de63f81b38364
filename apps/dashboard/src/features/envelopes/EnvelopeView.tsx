import { Tabs } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { type Envelope, getEnvelope, listEvents } from "../../../../../server/features/envelopes/contract.ts";
import { listTestMails } from "../../../../../server/features/envelopes/dashboard-contract.ts";
import { getEnvelopeRetention } from "../../../../../server/features/retention/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { useCan } from "../../session.tsx";
import { MailNotice } from "../shell/MailNotice.tsx";
import { Warnings } from "../templates/Warnings.tsx";
import { EnvelopeHead } from "./EnvelopeHead.tsx";
import { Facts, Files } from "./Facts.tsx";
import { Keeping } from "./Keeping.tsx";
import { People } from "./People.tsx";
import { StuckNotice } from "./StuckNotice.tsx";
import { type Tab, tabs } from "./search.ts";
import { isSettled } from "./status.ts";
import { TestMails } from "./TestMails.tsx";
import { Timeline } from "./Timeline.tsx";
import { useChanges } from "./useChanges.ts";
import { useTrail } from "./useTrail.ts";
import { Values } from "./Values.tsx";
import { Viewers } from "./Viewers.tsx";

const Documents = lazy(async () => ({ default: (await import("./Documents.tsx")).Documents }));

type Props = {
  envelope: Envelope;
  /** Why it could not be fetched anew. */
  failure: unknown;
};

/** An envelope that is there, kept up to date by its audit trail. */
export function EnvelopeView({ envelope, failure }: Props) {
  const refresh = useRefresh(envelope.id);
  // One column: the files come before the long record, for the eye and for the keyboard.
  const narrow = useMediaQuery("(max-width: 75em)", undefined, { getInitialValueInEffect: false });
  const end = isSettled(envelope) ? `${envelope.status}/${envelope.seal}` : null;
  const trail = useTrail(envelope.id, end, refresh);
  // What holds an envelope up and what could not be delivered stands in no audit entry.
  useChanges((ids) => {
    if (ids === null || ids.has(envelope.id)) refresh();
  });
  const t = translator("envelopes");
  const { tab, choose } = useTab(envelope);
  const readsMails = useCan("envelope:send") && envelope.testMode;
  return (
    <>
      <EnvelopeHead envelope={envelope} />
      {failure !== null && <Failure error={failure} />}
      <StuckNotice envelope={envelope} />
      <Warnings warnings={envelope.warnings} />
      {!envelope.testMode && envelope.status === "sent" && <MailNotice />}
      <div className="envelope-columns">
        <div className="envelope-main">
          <People envelope={envelope} />
          {narrow && <Files envelope={envelope} />}
          <Tabs value={tab} onChange={choose} keepMounted={false} className="envelope-tabs">
            <Tabs.List>
              <Tabs.Tab value="timeline">{t("tab.timeline")}</Tabs.Tab>
              <Tabs.Tab value="document">{t("tab.document")}</Tabs.Tab>
              <Tabs.Tab value="values">{t("tab.values")}</Tabs.Tab>
              {readsMails && <Tabs.Tab value="mails">{t("tab.mails")}</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="timeline">
              <Timeline envelope={envelope} trail={trail} />
            </Tabs.Panel>
            <Tabs.Panel value="document">
              <Suspense fallback={<Loading rows={1} height={720} />}>
                <Documents envelope={envelope} />
              </Suspense>
            </Tabs.Panel>
            <Tabs.Panel value="values">
              <Values envelope={envelope} />
            </Tabs.Panel>
            {readsMails && (
              <Tabs.Panel value="mails">
                <TestMails envelope={envelope} />
              </Tabs.Panel>
            )}
          </Tabs>
        </div>
        <aside className="envelope-aside" aria-label={t("facts.title")}>
          {!narrow && <Files envelope={envelope} />}
          <Facts envelope={envelope} />
          <Keeping envelope={envelope} />
          <Viewers envelope={envelope} />
        </aside>
      </div>
    </>
  );
}

/** Fetches the envelope and what is shown of it anew. */
function useRefresh(id: string): () => void {
  const queries = useQueryClient();
  return () => {
    void queries.invalidateQueries({ queryKey: [getEnvelope.id, { params: { id } }] });
    void queries.invalidateQueries({ queryKey: [listEvents.id] });
    void queries.invalidateQueries({ queryKey: [getEnvelopeRetention.id] });
    void queries.invalidateQueries({ queryKey: [listTestMails.id] });
  };
}

/** The open tab stands in the address. */
function useTab(envelope: Envelope) {
  const { tab = "timeline" } = useSearch({ from: "/workspace/envelopes/$id" });
  const navigate = useNavigate();
  const choose = (value: string | null) => {
    const next: Tab | undefined = tabs.find((name) => name === value);
    if (next === undefined) return;
    void navigate({
      to: "/envelopes/$id",
      params: { id: envelope.id },
      search: next === "timeline" ? {} : { tab: next },
      replace: true,
      resetScroll: false,
    });
  };
  return { tab: tab === "mails" && !envelope.testMode ? "timeline" : tab, choose };
}
