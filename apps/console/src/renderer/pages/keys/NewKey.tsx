import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { KeyStorage, KeyUse, kindsOf, MadeKind } from "../../../../../../server/features/keys/kinds.ts";
import {
  generateManagedKey,
  listKeyRecords,
  listManagedKeys,
  rotateManagedKey,
} from "../../../../../../server/features/keys/managed-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");
const changes = [listManagedKeys, listKeyRecords];

/** Makes a key, in software or in the HSM, and puts it into use at once if that is wanted. */
export function NewKey({ hsm }: { hsm: boolean }) {
  const [use, setUse] = useState<KeyUse>("seal");
  const [kind, setKind] = useState<MadeKind>(kindsOf.seal[0] ?? "rsa-3072");
  const [storage, setStorage] = useState<KeyStorage>("software");
  const [atOnce, setAtOnce] = useState(false);
  const [by, setBy] = useState("");
  const generate = useLocalAct(generateManagedKey, {
    changes,
    onDone: ({ record }) => notify({ message: t("keys.made", { record }) }),
  });
  const rotate = useLocalAct(rotateManagedKey, {
    changes,
    onDone: ({ record }) => notify({ message: t("keys.replaced", { record }) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const named = by.trim() === "" ? {} : { by: by.trim() };
    if (atOnce) rotate.mutate({ body: { use, fresh: { kind, storage }, ...named } });
    else generate.mutate({ body: { use, kind, storage, ...named } });
  };
  const chooseUse = (value: string) => {
    const next = KeyUse.parse(value);
    setUse(next);
    setKind(kindsOf[next][0] ?? kind);
  };
  return (
    <form className="form" onSubmit={submit}>
      <NativeSelect
        label={t("keys.newUse")}
        value={use}
        data={KeyUse.options.map((value) => ({ value, label: t(`keys.use.${value}`) }))}
        onChange={(event) => chooseUse(event.currentTarget.value)}
      />
      <NativeSelect
        label={t("keys.newKind")}
        value={kind}
        data={[...kindsOf[use]]}
        onChange={(event) => setKind(MadeKind.parse(event.currentTarget.value))}
      />
      <NativeSelect
        label={t("keys.newPlace")}
        {...(hsm ? {} : { description: t("keys.newPlaceHint") })}
        disabled={!hsm}
        value={storage}
        data={KeyStorage.options.map((value) => ({ value, label: t(`keys.storage.${value}`) }))}
        onChange={(event) => setStorage(KeyStorage.parse(event.currentTarget.value))}
      />
      <TextInput
        label={t("keys.byLabel")}
        description={t("keys.byHint")}
        maxLength={200}
        value={by}
        onChange={(event) => setBy(event.currentTarget.value)}
      />
      <Checkbox
        label={t("keys.atOnce")}
        description={t("keys.atOnceHint")}
        checked={atOnce}
        onChange={(event) => setAtOnce(event.currentTarget.checked)}
      />
      {generate.isError && <Failure error={generate.error} />}
      {rotate.isError && <Failure error={rotate.error} />}
      <Button type="submit" loading={generate.isPending || rotate.isPending}>
        {t("keys.make")}
      </Button>
    </form>
  );
}
