import { Button, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  installKeyCertificate,
  listKeyRecords,
  listManagedKeys,
  type ManagedKeyInfo,
  requestKeyCertificate,
} from "../../../../../../server/features/keys/managed-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { ask } from "../../bridge.ts";
import { Failure } from "../../Failure.tsx";
import { FilePick, type Picked } from "../../FilePick.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");

/** A request with which an authority certifies a key for seals or time stamps. */
export function RequestKeyCertificate({ keys }: { keys: readonly ManagedKeyInfo[] }) {
  const certifiable = keys.filter(({ use, state }) => (use === "seal" || use === "timestamp") && state !== "retired");
  const [key, setKey] = useState("");
  const [organization, setOrganization] = useState("");
  const [commonName, setCommonName] = useState("");
  const request = useLocalAct(requestKeyCertificate);
  const save = useMutation({
    mutationFn: (text: string) => ask("file.save", { name: "signet-key.csr", text }),
    onSuccess: ({ saved }) => saved !== null && notify({ message: t("saved", { path: saved }) }),
  });
  const chosen = certifiable.find(({ id }) => id === key) ?? certifiable[0];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen) request.mutate({ params: { key: chosen.id }, body: { organization, commonName } });
  };
  const made = request.data?.request;
  return (
    <form className="form" onSubmit={submit}>
      <NativeSelect
        label={t("keys.key")}
        value={chosen?.id ?? ""}
        data={certifiable.map(({ id, use, kind, state }) => ({
          value: id,
          label: `${t(`keys.use.${use}`)}, ${kind}, ${t(`keys.states.${state}`)}, ${id.slice(0, 12)}`,
        }))}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <TextInput
        label={t("keys.organization")}
        required
        maxLength={200}
        value={organization}
        onChange={(event) => setOrganization(event.currentTarget.value)}
      />
      <TextInput
        label={t("keys.commonName")}
        required
        maxLength={200}
        value={commonName}
        onChange={(event) => setCommonName(event.currentTarget.value)}
      />
      {request.isError && <Failure error={request.error} />}
      {made !== undefined && (
        <Textarea label={t("keys.request")} readOnly autosize maxRows={12} value={made} classNames={{ input: "pem" }} />
      )}
      {save.isError && <Failure error={save.error} />}
      <Group>
        <Button type="submit" variant={made === undefined ? "filled" : "default"} loading={request.isPending}>
          {t("keys.makeRequest")}
        </Button>
        {made !== undefined && (
          <Button loading={save.isPending} onClick={() => save.mutate(made)}>
            {t("keys.saveRequest")}
          </Button>
        )}
      </Group>
    </form>
  );
}

/** Takes the certificate that an authority issued, with its chain. */
export function InstallKeyCertificate() {
  const [picked, setPicked] = useState<Picked | null>(null);
  const install = useLocalAct(installKeyCertificate, {
    changes: [listManagedKeys, listKeyRecords],
    onDone: ({ record }) => {
      setPicked(null);
      notify({ message: t("keys.certificateTaken", { record }) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (picked) install.mutate({ body: { file: picked.base64 } });
  };
  return (
    <form className="form" onSubmit={submit}>
      <p className="soft">{t("keys.installHint")}</p>
      <FilePick kind="certificate" label={t("keys.pickCertificate")} picked={picked} onPicked={setPicked} />
      {install.isError && <Failure error={install.error} />}
      <Button type="submit" disabled={picked === null} loading={install.isPending}>
        {t("keys.install")}
      </Button>
    </form>
  );
}
