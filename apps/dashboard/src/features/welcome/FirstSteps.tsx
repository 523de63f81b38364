import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { listEnvelopes } from "../../../../../server/features/envelopes/contract.ts";
import { listApiKeys } from "../../../../../server/features/identity/contract.ts";
import { listInvitations, listMembers } from "../../../../../server/features/organization/people-contract.ts";
import { listTemplates } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Check } from "../../../../shared/ui/icons.tsx";
import { useCan } from "../../session.tsx";
import { useSample } from "./useSample.ts";

/** The three steps that make a workspace useful; what is done is ticked off. */
export function FirstSteps() {
  const t = translator("templates");
  const done = useDone();
  const canInvite = useCan("member:manage");
  const canMakeKeys = useCan("apikey:manage");
  const canWrite = useCan("template:write");
  const canPublish = useCan("template:publish");
  return (
    <>
      <ol className="steps">
        <Step number={1} done={done.template} title={t("welcome.template.title")} text={t("welcome.template.text")}>
          <Button
            variant={done.template ? "default" : "filled"}
            renderRoot={(props) => <Link {...props} to="/templates" />}
          >
            {done.template ? t("welcome.template.more") : t("welcome.template.go")}
          </Button>
        </Step>
        <Step number={2} done={done.envelope} title={t("welcome.envelope.title")} text={t("welcome.envelope.text")}>
          <Button
            variant={done.template && !done.envelope ? "filled" : "default"}
            renderRoot={(props) => <Link {...props} to="/send" />}
          >
            {t("welcome.envelope.go")}
          </Button>
        </Step>
        <Step number={3} done={done.people} title={t("welcome.people.title")} text={t("welcome.people.text")}>
          {canInvite && (
            <Button variant="default" renderRoot={(props) => <Link {...props} to="/settings/members" />}>
              {t("welcome.people.invite")}
            </Button>
          )}
          {canMakeKeys && (
            <Button variant="default" renderRoot={(props) => <Link {...props} to="/settings/keys" />}>
              {t("welcome.people.key")}
            </Button>
          )}
          {!canInvite && !canMakeKeys && <p className="hint">{t("welcome.people.ask")}</p>}
        </Step>
      </ol>
      {canWrite && canPublish && <TrySample />}
    </>
  );
}

type StepProps = { number: number; done: boolean; title: string; text: string; children: ReactNode };

function Step({ number, done, title, text, children }: StepProps) {
  const t = translator("templates");
  return (
    <li className="step" data-done={done || undefined}>
      <span className="step-mark" aria-hidden="true">
        {done ? <Check size={20} /> : number}
      </span>
      <div>
        <h2>
          {title}
          {done && <span className="step-done">{t("welcome.done")}</span>}
        </h2>
        <p>{text}</p>
        <div className="step-actions">{children}</div>
      </div>
    </li>
  );
}

function TrySample() {
  const t = translator("templates");
  const { start, busy, error } = useSample();
  return (
    <section className="try" aria-labelledby="try-title">
      <div>
        <h2 id="try-title">{t("welcome.sample.title")}</h2>
        <p>{t("welcome.sample.text")}</p>
      </div>
      <Button variant="default" loading={busy} onClick={() => void start()}>
        {t("welcome.sample.go")}
      </Button>
      {error !== null && <Failure error={error} />}
    </section>
  );
}

/** What of the three steps is done, as far as the person may know. */
function useDone(): { template: boolean; envelope: boolean; people: boolean } {
  const canInvite = useCan("member:manage");
  const canMakeKeys = useCan("apikey:manage");
  const canRead = useCan("envelope:read");
  const templates = useEndpoint(listTemplates, { query: { limit: "100" } });
  const live = useEndpoint(listEnvelopes, { query: { limit: "1", testMode: "0" } }, { enabled: canRead });
  const test = useEndpoint(listEnvelopes, { query: { limit: "1", testMode: "1" } }, { enabled: canRead });
  const members = useEndpoint(listMembers, {}, { enabled: canInvite });
  const invitations = useEndpoint(listInvitations, {}, { enabled: canInvite });
  const keys = useEndpoint(listApiKeys, {}, { enabled: canMakeKeys });
  const count = (query: { data?: { data: readonly unknown[] } | undefined }) => query.data?.data.length ?? 0;
  return {
    template: templates.data?.data.some(({ latestVersion }) => latestVersion !== null) ?? false,
    envelope: count(live) + count(test) > 0,
    people: count(members) > 1 || count(invitations) > 0 || count(keys) > 0,
  };
}
