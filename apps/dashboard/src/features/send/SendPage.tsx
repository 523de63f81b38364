import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type send from "../../../../../locales/en/send.json";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import {
  getTemplate,
  getTemplateVersion,
  type TemplateVersion,
} from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useMode } from "../../mode.tsx";
import { useCan, useSession } from "../../session.tsx";
import { ContentStep } from "./ContentStep.tsx";
import { DocumentSend } from "./document/DocumentSend.tsx";
import { NewDocument } from "./document/NewDocument.tsx";
import { SaveAsTemplate } from "./document/SaveAsTemplate.tsx";
import { Forbidden } from "./Forbidden.tsx";
import { useForm } from "./form.ts";
import { Options } from "./Options.tsx";
import { PeopleStep } from "./PeopleStep.tsx";
import { ReviewStep } from "./ReviewStep.tsx";
import { SendButton } from "./SendButton.tsx";
import { SendFrame } from "./SendFrame.tsx";
import { Sent } from "./Sent.tsx";
import { Steps } from "./Steps.tsx";
import { templateSteps } from "./search.ts";
import { TemplateChoice } from "./TemplateChoice.tsx";
import "./send.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    send: typeof send;
  }
}

const t = translator("send");

/** Sending one envelope, of a template or of a document that is none. */
export function SendPage() {
  const { template, step } = useSearch({ from: "/workspace/send" });
  const navigate = useNavigate();
  const allowed = useCan("envelope:send");
  const canUpload = useCan("template:write");
  const [sent, setSent] = useState<Sending | null>(null);
  // Going to another template or step, or to none, begins anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is what it waits for
  useEffect(() => setSent(null), [template, step]);
  if (!allowed) return <Forbidden />;
  if (sent) {
    return (
      <Sent
        envelope={sent.envelope}
        onAnother={() => (sent.once ? void navigate({ to: "/send", search: {} }) : setSent(null))}
      >
        {sent.once && <SaveAsTemplate template={sent.envelope.template} name={sent.envelope.title} />}
      </Sent>
    );
  }
  return (
    <>
      <PageHeader
        title={t("title")}
        description={t("text")}
        actions={
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/bulk" search={template ? { template } : {}} {...props} />}
          >
            {t("toBulk")}
          </Button>
        }
      />
      {template ? (
        <Chosen key={template} template={template} onSent={setSent} />
      ) : (
        <>
          <Steps at="choice" />
          {canUpload && <NewDocument onMade={(id) => void navigate({ to: "/send", search: { template: id } })} />}
          <TemplateChoice onChoose={({ id }) => void navigate({ to: "/send", search: { template: id } })} />
        </>
      )}
    </>
  );
}

/** `once`: of a document that is no template. */
type Sending = { envelope: Envelope; once: boolean };

function Chosen({ template, onSent }: { template: string; onSent: (sending: Sending) => void }) {
  const about = useEndpoint(getTemplate, { params: { id: template } });
  const { data } = about;
  if (data && !data.listed) {
    return <DocumentSend template={data} onSent={(envelope) => onSent({ envelope, once: true })} />;
  }
  if (data) {
    return <OfTemplate template={template} name={data.name} onSent={(envelope) => onSent({ envelope, once: false })} />;
  }
  return <Waiting error={about.error} />;
}

function Waiting({ error }: { error: unknown }) {
  if (!error) return <Loading rows={5} height={72} />;
  return (
    <>
      <Failure error={error} />
      <OtherChoice />
    </>
  );
}

function OtherChoice() {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/send" search={{}} {...props} />}>
      {t("template.other")}
    </Button>
  );
}

type OfTemplateProps = { template: string; name: string; onSent: (envelope: Envelope) => void };

function OfTemplate({ template, name, onSent }: OfTemplateProps) {
  const version = useEndpoint(getTemplateVersion, { params: { id: template, version: "latest" } });
  // A draft on the page stays, also while the template cannot be fetched anew.
  if (!version.data) return <Waiting error={version.error} />;
  return <Drafting key={version.data.version} version={version.data} name={name} onSent={onSent} />;
}

type DraftingProps = { version: TemplateVersion; name: string; onSent: (envelope: Envelope) => void };

function Drafting({ version, name, onSent }: DraftingProps) {
  const { organization, user } = useSession();
  const { testMode } = useMode();
  const { step: named } = useSearch({ from: "/workspace/send" });
  const navigate = useNavigate();
  const form = useForm(`${user.id}.${organization?.id}`, organization?.timeZone ?? "UTC", version, {
    steps: templateSteps,
    named,
    name: (step, replace) => void navigate({ to: "/send", search: { template: version.template, step }, replace }),
  });
  // Another mode or language keeps the draft.
  useUnsaved(form.touched, { lostBy: [] });
  const { step } = form;
  return (
    <SendFrame
      form={form}
      name={name}
      leave={<OtherChoice />}
      send={<SendButton form={form} testMode={testMode} onSent={onSent} />}
    >
      {step === "people" && <PeopleStep form={form} />}
      {step === "content" && (
        <>
          <ContentStep form={form} templateName={name} />
          <Options form={form} />
        </>
      )}
      {step === "review" && <ReviewStep form={form} testMode={testMode} />}
    </SendFrame>
  );
}
