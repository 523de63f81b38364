import { Button, Group } from "@mantine/core";
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
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useMode } from "../../mode.tsx";
import { useCan, useSession } from "../../session.tsx";
import { ContentStep } from "./ContentStep.tsx";
import { Forbidden } from "./Forbidden.tsx";
import { type Form, useForm } from "./form.ts";
import { OptionsStep } from "./OptionsStep.tsx";
import { PeopleStep } from "./PeopleStep.tsx";
import { ReviewStep } from "./ReviewStep.tsx";
import { stepOf } from "./request.ts";
import { SendButton } from "./SendButton.tsx";
import { Sent } from "./Sent.tsx";
import { type Step, steps } from "./search.ts";
import { TemplateChoice } from "./TemplateChoice.tsx";
import "./send.css";

declare module "../../../../shared/i18n.ts" {
  interface Catalogues {
    send: typeof send;
  }
}

const t = translator("send");

/** Sending one envelope: template, people, content, options, and a look at it before it leaves. */
export function SendPage() {
  const { template, step } = useSearch({ from: "/workspace/send" });
  const navigate = useNavigate();
  const allowed = useCan("envelope:send");
  const [sent, setSent] = useState<Envelope | null>(null);
  // Going to another template or step, or to none, begins anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is what it waits for
  useEffect(() => setSent(null), [template, step]);
  if (!allowed) return <Forbidden />;
  if (sent) return <Sent envelope={sent} onAnother={() => setSent(null)} />;
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
          <Steps at="template" />
          <TemplateChoice onChoose={({ id }) => void navigate({ to: "/send", search: { template: id } })} />
        </>
      )}
    </>
  );
}

function Chosen({ template, onSent }: { template: string; onSent: (envelope: Envelope) => void }) {
  const about = useEndpoint(getTemplate, { params: { id: template } });
  const version = useEndpoint(getTemplateVersion, { params: { id: template, version: "latest" } });
  // A draft on the page stays, also while the template cannot be fetched anew.
  if (about.data && version.data) {
    return <Drafting key={version.data.version} version={version.data} name={about.data.name} onSent={onSent} />;
  }
  const error = about.error ?? version.error;
  if (!error) return <Loading rows={5} height={72} />;
  return (
    <>
      <Failure error={error} />
      <Button variant="default" renderRoot={(props) => <Link to="/send" search={{}} {...props} />}>
        {t("template.other")}
      </Button>
    </>
  );
}

type DraftingProps = { version: TemplateVersion; name: string; onSent: (envelope: Envelope) => void };

function Drafting({ version, name, onSent }: DraftingProps) {
  const { organization, user } = useSession();
  const { testMode } = useMode();
  const confirm = useConfirm();
  const { step: named } = useSearch({ from: "/workspace/send" });
  const navigate = useNavigate();
  const form = useForm(`${user.id}.${organization?.id}`, organization?.timeZone ?? "UTC", version, {
    named,
    name: (step, replace) => void navigate({ to: "/send", search: { template: version.template, step }, replace }),
  });
  // Another mode or language keeps the draft.
  useUnsaved(form.touched, { lostBy: [] });
  const { step } = form;
  const place = steps.indexOf(step);
  const previous = steps[place - 1];
  const next = steps[place + 1];
  const startOver = async () => {
    const agreed = await confirm({
      title: t("startOver"),
      text: t("startOverText"),
      confirm: t("startOver"),
      danger: true,
    });
    if (agreed) form.startOver();
  };
  return (
    <>
      <Steps at={step} onGo={form.go} />
      <form
        className="send-step"
        aria-labelledby="send-step"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (next) form.go(next);
        }}
      >
        <div className="send-step-head">
          <h2 id="send-step" tabIndex={-1}>
            {t(`steps.${step}`)}
          </h2>
          <span className="soft">{name}</span>
        </div>
        <LooseErrors form={form} />
        {step === "people" && <PeopleStep form={form} />}
        {step === "content" && <ContentStep form={form} templateName={name} />}
        {step === "options" && <OptionsStep form={form} />}
        {step === "review" && <ReviewStep form={form} testMode={testMode} />}
        <div className="send-bar">
          <Group gap="sm">
            {previous ? (
              <Button variant="default" onClick={() => form.go(previous)}>
                {t("back")}
              </Button>
            ) : (
              <Button variant="default" renderRoot={(props) => <Link to="/send" search={{}} {...props} />}>
                {t("template.other")}
              </Button>
            )}
            {form.touched && (
              <button type="button" className="plain" onClick={() => void startOver()}>
                {t("startOver")}
              </button>
            )}
          </Group>
          {next ? (
            <Button type="submit">{t("next", { step: t(`steps.${next}`) })}</Button>
          ) : (
            <SendButton form={form} testMode={testMode} onSent={onSent} />
          )}
        </div>
      </form>
    </>
  );
}

/** What is wrong with something that has no input of its own. */
function LooseErrors({ form }: { form: Form }) {
  const { errors, step } = form;
  const [loose, setLoose] = useState<string[]>([]);
  useEffect(() => {
    const shown = new Set(
      Array.from(document.querySelectorAll("[data-pointer]"), (input) => input.getAttribute("data-pointer")),
    );
    const here = Object.entries(errors).filter(([pointer]) => stepOf(pointer) === step && !shown.has(pointer));
    setLoose(here.map(([, detail]) => detail));
  }, [errors, step]);
  if (loose.length === 0) return null;
  return (
    <div className="notice bad" role="alert">
      <strong>{t("attention")}</strong>
      {loose.join(" ")}
    </div>
  );
}

function Steps({ at, onGo }: { at: Step | "template"; onGo?: (step: Step) => void }) {
  const all = ["template", ...steps] as const;
  return (
    <nav className="send-steps" aria-label={t("steps.label")}>
      <ol>
        {all.map((step, index) => (
          <li key={step} data-done={index < all.indexOf(at) || undefined}>
            {step === "template" && at !== "template" ? (
              <Link to="/send" search={{}}>
                <StepName step={step} number={index + 1} />
              </Link>
            ) : (
              <button
                type="button"
                aria-current={step === at ? "step" : undefined}
                disabled={!onGo && step !== at}
                onClick={() => step !== "template" && onGo?.(step)}
              >
                <StepName step={step} number={index + 1} />
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function StepName({ step, number }: { step: Step | "template"; number: number }) {
  return (
    <>
      <span className="send-step-number" aria-hidden="true">
        {number}
      </span>
      <span className="send-step-name">{t(`steps.${step}`)}</span>
    </>
  );
}
