import { Button } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import {
  importManagedKey,
  listKeyRecords,
  listManagedKeys,
} from "../../../../../../server/features/keys/managed-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { Failure } from "../../Failure.tsx";
import { FilePick, type Picked } from "../../FilePick.tsx";
import { useLocalSecret } from "../../local.ts";

const t = translator("console");

/** A seal key with its certificate out of a PKCS#12 file. */
export function ImportKey() {
  const [picked, setPicked] = useState<Picked | null>(null);
  const password = useRef<HTMLInputElement>(null);
  const { run, pending, error, answer } = useLocalSecret(importManagedKey, [listManagedKeys, listKeyRecords]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const field = password.current;
    if (!picked || !field) return;
    const body = { file: picked.base64, password: field.value };
    // Neither the key nor its password stays on the page.
    field.value = "";
    setPicked(null);
    void run({ body });
  };
  return (
    <form className="form" onSubmit={submit}>
      <p className="soft">{t("keys.importHint")}</p>
      <FilePick kind="certificate" label={t("keys.pickContainer")} picked={picked} onPicked={setPicked} />
      <SecretInput label={t("keys.password")} autoComplete="off" ref={password} maxLength={1000} />
      {error !== null && <Failure error={error} />}
      {answer && <p role="status">{t("keys.made", { record: answer.record })}</p>}
      <Button type="submit" disabled={picked === null} loading={pending}>
        {t("keys.import")}
      </Button>
    </form>
  );
}
