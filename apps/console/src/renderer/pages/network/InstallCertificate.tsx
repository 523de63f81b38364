import { Button } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { getAcme } from "../../../../../../server/features/tls/acme/contract.ts";
import { getTls, installCertificate } from "../../../../../../server/features/tls/contract.ts";
import type { LocalInput } from "../../../../../../server/local-client.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { Failure } from "../../Failure.tsx";
import { FilePick, type Picked } from "../../FilePick.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");

type Body = LocalInput<typeof installCertificate>["body"];

const isPem = ({ base64 }: Picked) => atob(base64.slice(0, 4096)).includes("-----BEGIN ");
// PEM is ASCII; what else stands in the file is for the service to refuse.
const textOf = ({ base64 }: Picked) => atob(base64);

/** Takes a certificate that somebody issued: PEM with or without a key, or a PFX container. */
export function InstallCertificate({ waiting }: { waiting: boolean }) {
  const [certificate, setCertificate] = useState<Picked | null>(null);
  const [key, setKey] = useState<Picked | null>(null);
  const [passphrase, setPassphrase] = useState("");
  const install = useLocalAct(installCertificate, {
    changes: [getTls, getAcme],
    onDone: () => {
      notify({ message: t("network.changed") });
      setCertificate(null);
      setKey(null);
      setPassphrase("");
    },
  });
  const container = certificate !== null && !isPem(certificate);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (certificate) install.mutate({ body: bodyOf(certificate, key, passphrase) });
  };
  return (
    <form className="form" onSubmit={submit}>
      <p className="soft">{waiting ? t("network.installWaiting") : t("network.installHint")}</p>
      <FilePick
        kind="certificate"
        label={t("network.pick.certificate")}
        picked={certificate}
        onPicked={setCertificate}
      />
      {!container && <FilePick kind="key" label={t("network.pick.key")} picked={key} onPicked={setKey} />}
      {(container || key !== null) && (
        <SecretInput
          label={t("network.passphrase")}
          description={t("network.passphraseHint")}
          autoComplete="off"
          value={passphrase}
          onChange={(event) => setPassphrase(event.currentTarget.value)}
        />
      )}
      {install.isError && <Failure error={install.error} />}
      <Button type="submit" disabled={certificate === null} loading={install.isPending}>
        {t("network.install")}
      </Button>
    </form>
  );
}

function bodyOf(certificate: Picked, key: Picked | null, passphrase: string): Body {
  if (!isPem(certificate)) return { pfxBase64: certificate.base64, passphrase };
  return {
    certificatePem: textOf(certificate),
    ...(key ? { keyPem: textOf(key) } : {}),
    ...(key && passphrase !== "" ? { passphrase } : {}),
  };
}
