import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import type { Envelope } from "../../../../../../server/features/envelopes/contract.ts";
import {
  getTemplateVersion,
  type Template,
  type TemplateVersion,
} from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { Failure } from "../../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../../shared/ui/kit/Confirm.tsx";
import { Loading } from "../../../../../shared/ui/kit/Loading.tsx";
import { useUnsaved } from "../../../../../shared/ui/kit/useUnsaved.ts";
import { useMode } from "../../../mode.tsx";
import { useSession } from "../../../session.tsx";
import { DraftConflict } from "../../templates/DraftConflict.tsx";
import { fieldsOf } from "../../templates/model.ts";
import { ContentStep } from "../ContentStep.tsx";
import { type Form, useForm } from "../form.ts";
import { Options } from "../Options.tsx";
import { PeopleStep } from "../PeopleStep.tsx";
import { ReviewStep } from "../ReviewStep.tsx";
import { SendButton } from "../SendButton.tsx";
import { SendFrame } from "../SendFrame.tsx";
import { documentSteps } from "../search.ts";
import { FieldsPart } from "./FieldsPart.tsx";
import { newPerson, withMyself, withPeople } from "./people.ts";
import { newestDraft, useDocumentDraft } from "./useDocumentDraft.ts";

const t = translator("send");

type Props = { template: Template; onSent: (envelope: Envelope) => void };

/** A document that is no template: who signs it, where, and a look at it before it leaves. */
export function DocumentSend({ template, onSent }: Props) {
  const [loads, setLoads] = useState(0);
  // Never from memory: what was saved since would be overwritten by what somebody saw before.
  const version = useQuery({
    queryKey: [getTemplateVersion.id, template.id, "once"],
    queryFn: ({ signal }) => newestDraft(template.id, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const reload = async () => {
    await version.refetch();
    setLoads((before) => before + 1);
  };
  if (version.data) {
    return (
      <Document key={loads} template={template} first={version.data} onSent={onSent} onReload={() => void reload()} />
    );
  }
  if (!version.error) return <Loading rows={5} height={72} />;
  return (
    <>
      <Failure error={version.error} />
      <OtherDocument />
    </>
  );
}

function OtherDocument() {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/send" search={{}} {...props} />}>
      {t("document.other")}
    </Button>
  );
}

type DocumentProps = Props & { first: TemplateVersion; onReload: () => void };

function Document({ template, first: loaded, onSent, onReload }: DocumentProps) {
  const [first] = useState(loaded);
  const { organization, user } = useSession();
  const { testMode } = useMode();
  const { step: named } = useSearch({ from: "/workspace/send" });
  const navigate = useNavigate();
  const kept = useDocumentDraft(template, first);
  const { store, status, error, version } = kept;
  const confirm = useConfirm();
  const form = useForm(`${user.id}.${organization?.id}`, organization?.timeZone ?? "UTC", version, {
    steps: documentSteps,
    named,
    name: (step, replace) => void navigate({ to: "/send", search: { template: template.id, step }, replace }),
  });
  const { people } = form.draft;
  useEffect(() => store.everywhere((draft) => withPeople(draft, people)), [store, people]);
  useUnsaved(form.touched || status !== "saved", { lostBy: [], save: store.save });
  const { step } = form;
  const word = t("document.signer");
  const edit = (next: typeof people, ...at: string[]) => form.change({ people: next }, ...at);
  const remove = async (role: string) => {
    const count = fieldsOf(store.snapshot().draft, role);
    const name = people.find((person) => person.role === role)?.name.trim() || role;
    const agreed =
      count === 0 ||
      (await confirm({
        title: t("document.removeTitle", { name }),
        text: t("document.removeText", { count }),
        confirm: t("document.remove"),
        danger: true,
      }));
    if (!agreed) return;
    edit(
      people.filter((person) => person.role !== role),
      "#/recipients",
    );
  };
  const { publish } = kept;
  return (
    <SendFrame form={form} name={template.name} leave={<OtherDocument />} send={null}>
      <DraftConflict opened={status === "conflict"} onReload={onReload} onOverwrite={() => void store.overwrite()} />
      {status === "failed" && (
        <>
          <Failure error={error} />
          <Button size="compact-sm" variant="default" mb="sm" onClick={() => void store.save()}>
            {translator("common")("retry")}
          </Button>
        </>
      )}
      {step === "people" && (
        <>
          <PeopleStep
            form={form}
            roster={{
              add: () => edit([...people, newPerson(people, word)]),
              addMyself: () => edit(withMyself(people, { name: user.name, email: user.email }, word), "#/recipients"),
              isListed: people.some(({ email }) => email.trim().toLowerCase() === user.email.toLowerCase()),
              remove: (role) => void remove(role),
            }}
          />
          <ContentStep form={form} templateName={template.name} />
          <Options form={form} />
        </>
      )}
      {step === "fields" && <FieldsPart template={template.id} kept={kept} />}
      {step === "review" && (
        <Published publish={publish} onBack={() => form.go("fields")}>
          {(made) => {
            const ready = ofVersion(form, made);
            return (
              <>
                <ReviewStep form={ready} testMode={testMode} />
                <SendButton form={ready} testMode={testMode} onSent={onSent} />
              </>
            );
          }}
        </Published>
      )}
    </SendFrame>
  );
}

/** The form, sending exactly the version that is looked at. */
function ofVersion(form: Form, version: TemplateVersion): Form {
  return { ...form, version, request: { ...form.request, templateVersion: version.version ?? "latest" } };
}

type PublishedProps = {
  publish: () => Promise<TemplateVersion>;
  onBack: () => void;
  children: (version: TemplateVersion) => ReactNode;
};

/** Publishes the document and then shows what needs the version. */
function Published({ publish, onBack, children }: PublishedProps) {
  const [version, setVersion] = useState<TemplateVersion | null>(null);
  const [error, setError] = useState<unknown>(null);
  const begin = useCallback(async () => {
    setError(null);
    try {
      setVersion(await publish());
    } catch (reason) {
      setError(reason);
    }
  }, [publish]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the part is opened
  useEffect(() => void begin(), []);
  if (version) return children(version);
  if (error === null) return <Loading rows={4} />;
  return (
    <>
      <Failure error={error} />
      <Button variant="default" onClick={onBack}>
        {t("document.toFields")}
      </Button>{" "}
      <Button variant="default" onClick={() => void begin()}>
        {translator("common")("retry")}
      </Button>
    </>
  );
}
