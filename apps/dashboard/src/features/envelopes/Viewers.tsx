import { Anchor, Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  addViewers,
  deleteViewer,
  type Envelope,
  getEnvelope,
  type Viewer,
} from "../../../../../server/features/envelopes/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { isInProgress } from "./status.ts";

/** Who may watch the progress by a link; adding and removing them. */
export function Viewers({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const maySend = useCan("envelope:send");
  const viewers = envelope.viewers ?? [];
  return (
    <section className="envelope-card" aria-labelledby="viewers">
      <h2 id="viewers">{t("viewers.title")}</h2>
      <p className="soft">{viewers.length === 0 ? t("viewers.none") : t("viewers.text")}</p>
      {viewers.length > 0 && (
        <ul>
          {viewers.map((viewer) => (
            <OneViewer key={viewer.id} envelope={envelope.id} viewer={viewer} removable={maySend} />
          ))}
        </ul>
      )}
      {maySend && isInProgress(envelope) && <AddViewer envelope={envelope} />}
    </section>
  );
}

function OneViewer({ envelope, viewer, removable }: { envelope: string; viewer: Viewer; removable: boolean }) {
  const t = translator("envelopes");
  const confirm = useConfirm();
  const { email } = viewer;
  const act = useAct(deleteViewer, {
    changes: [getEnvelope],
    onDone: () => notify({ message: t("viewers.removed", { email }), tone: "good" }),
  });
  const remove = async () => {
    const sure = await confirm({
      title: t("viewers.removeTitle"),
      text: t("viewers.removeText", { email }),
      confirm: t("viewers.remove"),
      danger: true,
    });
    if (sure) act.mutate({ params: { id: envelope, viewer: viewer.id } });
  };
  return (
    <li className="envelope-viewer">
      <div>
        {viewer.name && <b dir="auto">{viewer.name} </b>}
        <span className="envelope-address">{email}</span>
        <small className="soft">
          {viewer.lastViewedAt ? (
            <>
              {t("viewers.lastViewed")} <When at={viewer.lastViewedAt} />
            </>
          ) : (
            t("viewers.neverViewed")
          )}
          {viewer.documentAccess && ` · ${t("viewers.document")}`}
        </small>
      </div>
      {removable && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          loading={act.isPending}
          aria-label={`${t("viewers.remove")}: ${email}`}
          onClick={() => void remove()}
        >
          {t("viewers.remove")}
        </Button>
      )}
      {act.isError && <Failure error={act.error} />}
    </li>
  );
}

function AddViewer({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const act = useAct(addViewers, { changes: [getEnvelope] });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const person = { email: email.trim(), ...(name.trim() === "" ? {} : { name: name.trim() }) };
    const known = envelope.viewers?.some((viewer) => viewer.email.toLowerCase() === person.email.toLowerCase());
    const done = () => {
      notify({ message: t(known ? "viewers.already" : "viewers.added", { email: person.email }), tone: "good" });
      // What was typed meanwhile is about the next one.
      setEmail((now) => (now === email ? "" : now));
      setName((now) => (now === name ? "" : now));
    };
    act.mutateAsync({ params: { id: envelope.id }, body: { viewers: [person] } }).then(done, () => {
      // Shown in the form.
    });
  };
  const refused = fieldErrors(act.error);
  const inPlace = refused["#/viewers/0/email"] ?? refused["#/viewers/0/name"];
  const upgrade = act.error instanceof ProblemResponse ? act.error.problem.upgradeUrl : undefined;
  return (
    <form onSubmit={submit} noValidate className="envelope-add">
      <TextInput
        label={t("viewers.email")}
        type="email"
        autoComplete="off"
        required
        withAsterisk={false}
        maxLength={254}
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        error={refused["#/viewers/0/email"]}
      />
      <TextInput
        label={t("viewers.name")}
        autoComplete="off"
        maxLength={200}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        error={refused["#/viewers/0/name"]}
      />
      <Button type="submit" variant="default" loading={act.isPending} disabled={email.trim() === ""}>
        {t("viewers.add")}
      </Button>
      {act.isError && !inPlace && (
        <div>
          <Failure error={act.error} />
          {upgrade && <Anchor href={upgrade}>{t("viewers.upgrade")}</Anchor>}
        </div>
      )}
    </form>
  );
}
