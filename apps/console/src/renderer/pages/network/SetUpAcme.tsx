import { Button, Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  type AcmeState,
  type ChallengeType,
  challengeTypes,
  getAcme,
  setUpAcme,
} from "../../../../../../server/features/tls/acme/contract.ts";
import { getTls } from "../../../../../../server/features/tls/contract.ts";
import type { LocalInput } from "../../../../../../server/local-client.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { Failure } from "../../Failure.tsx";
import { FilePick, type Picked } from "../../FilePick.tsx";
import { useLocalSecret } from "../../local.ts";

const t = translator("console");

type Props = {
  host: string;
  /** What is set up already. */
  setup: AcmeState["setup"];
  ports: AcmeState["ports"];
  onDone: () => void;
};

const begin = ({ host, setup }: Pick<Props, "host" | "setup">) => ({
  directory: setup?.directory ?? "",
  names: setup?.names.join("\n") ?? host,
  contacts: setup?.contacts.join("\n") ?? "",
  challenge: setup?.challenge ?? challengeTypes[0],
  kid: "",
  hmacKey: "",
  agreeToTerms: setup !== null,
});
type Typed = Omit<ReturnType<typeof begin>, "challenge"> & { challenge: ChallengeType };

/** Names an authority and what it shall issue a certificate for. */
export function SetUpAcme({ host, setup, ports, onDone }: Props) {
  const [typed, setTyped] = useState<Typed>(() => begin({ host, setup }));
  const [root, setRoot] = useState<Picked | null>(null);
  const put = useLocalSecret(setUpAcme, [getAcme, getTls]);
  const change = (part: Partial<Typed>) => setTyped((before) => ({ ...before, ...part }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const done = await put.run({ body: bodyOf(typed, root) });
    // The key of the other account is good for one use, whatever became of it.
    change({ hmacKey: "" });
    if (done) onDone();
  };
  const blocked = typed.challenge === "http-01" && ports.http === null;
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t("acme.directory")}
        description={t("acme.directoryHint")}
        type="url"
        required
        spellCheck={false}
        maxLength={2000}
        value={typed.directory}
        onChange={(event) => change({ directory: event.currentTarget.value })}
      />
      <Textarea
        label={t("acme.names")}
        description={t("acme.namesHint")}
        autosize
        required
        spellCheck={false}
        value={typed.names}
        onChange={(event) => change({ names: event.currentTarget.value })}
      />
      <Textarea
        label={t("acme.contactsLabel")}
        description={t("acme.contactsHint")}
        autosize
        spellCheck={false}
        value={typed.contacts}
        onChange={(event) => change({ contacts: event.currentTarget.value })}
      />
      <NativeSelect
        label={t("acme.challenge")}
        description={t("acme.challengeHint")}
        value={typed.challenge}
        onChange={(event) => {
          const chosen = challengeTypes.find((one) => one === event.currentTarget.value);
          if (chosen) change({ challenge: chosen });
        }}
        data={challengeTypes.map((value) => ({ value, label: t(`acme.challengeType.${value}`) }))}
      />
      {blocked && <p className="notice">{t("acme.noHttpPort")}</p>}
      <div>
        <FilePick kind="certificate" label={t("acme.pickRoot")} picked={root} onPicked={setRoot} />
        <p className="soft small">{setup?.ownRoot ? t("acme.rootAgain") : t("acme.rootHint")}</p>
      </div>
      <TextInput
        label={t("acme.kid")}
        description={t("acme.kidHint")}
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
        value={typed.kid}
        onChange={(event) => change({ kid: event.currentTarget.value })}
      />
      {typed.kid.trim() !== "" && (
        <SecretInput
          label={t("acme.hmacKey")}
          description={t("acme.hmacKeyHint")}
          required
          autoComplete="off"
          maxLength={2000}
          value={typed.hmacKey}
          onChange={(event) => change({ hmacKey: event.currentTarget.value })}
        />
      )}
      <Checkbox
        label={t("acme.agree")}
        checked={typed.agreeToTerms}
        onChange={(event) => change({ agreeToTerms: event.currentTarget.checked })}
      />
      {put.error !== null && <Failure error={put.error} />}
      <Button type="submit" disabled={blocked} loading={put.pending}>
        {t("acme.setUp")}
      </Button>
      {setup && (
        <Button variant="default" onClick={onDone}>
          {t("acme.keep")}
        </Button>
      )}
    </form>
  );
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== "");

function bodyOf(
  { directory, names, contacts, challenge, kid, hmacKey, agreeToTerms }: Typed,
  root: Picked | null,
): LocalInput<typeof setUpAcme>["body"] {
  return {
    directory: directory.trim(),
    names: words(names),
    contacts: words(contacts),
    challenge,
    agreeToTerms,
    // PEM is ASCII; what else stands in the file is for the service to refuse.
    ...(root ? { rootPem: atob(root.base64) } : {}),
    ...(kid.trim() === "" ? {} : { eab: { kid: kid.trim(), hmacKey: hmacKey.trim() } }),
  };
}
