import { Button, Group, Textarea } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { getAcme } from "../../../../../server/features/tls/acme/contract.ts";
import {
  getOwnAuthority,
  getTls,
  reloadCertificate,
  renewOwnCertificate,
  rollBackCertificate,
  type TlsState,
} from "../../../../../server/features/tls/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { ask } from "../bridge.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { callAppliance, useLocal, useLocalAct } from "../local.ts";
import { Acme, everyMs } from "./network/Acme.tsx";
import { Certificate } from "./network/Certificate.tsx";
import { InstallCertificate } from "./network/InstallCertificate.tsx";
import { RequestCertificate } from "./network/RequestCertificate.tsx";

const t = translator("console");
const common = translator("common");
/** A certificate that somebody chose pauses ACME. */
const changes = [getTls, getAcme];

/** The certificates under which the appliance serves its pages. */
export function NetworkPage() {
  // Also what an authority issues while nobody presses anything, and what others install.
  const tls = useLocal(getTls, {}, { refetchInterval: everyMs });
  return (
    <>
      <PageHeader title={t("network.nav")} description={t("network.description")} />
      <Loaded query={tls}>{(state) => <Certificates state={state} />}</Loaded>
    </>
  );
}

function Certificates({ state }: { state: TlsState }) {
  const { current, previous, request, host } = state;
  const confirm = useConfirm();
  const clipboard = useClipboard({ timeout: 3000 });
  const onDone = () => notify({ message: t("network.changed") });
  const rollBack = useLocalAct(rollBackCertificate, { changes, onDone });
  const renew = useLocalAct(renewOwnCertificate, { changes, onDone });
  const reload = useLocalAct(reloadCertificate, { changes, onDone });
  const failed = rollBack.error ?? renew.error ?? reload.error;
  const ifAgreed = async (what: "rollBack" | "renew", act: () => void) => {
    const agreed = await confirm({
      title: t(`network.ask.${what}`),
      text: t(`network.askText.${what}`),
      confirm: t(`network.${what}`),
    });
    if (agreed) act();
  };
  return (
    <div className="sections">
      <section aria-labelledby="tls-current">
        <h2 id="tls-current">{t("network.current")}</h2>
        {current ? <Certificate certificate={current} /> : <p>{t("network.plain")}</p>}
        {failed && <Failure error={failed} />}
        {current && (
          <Group mt="md">
            {current.source === "files" ? (
              <Button variant="default" loading={reload.isPending} onClick={() => reload.mutate({})}>
                {t("network.reload")}
              </Button>
            ) : (
              <Button
                variant="default"
                loading={renew.isPending}
                onClick={() => void ifAgreed("renew", () => renew.mutate({}))}
              >
                {t("network.renew")}
              </Button>
            )}
            <OwnAuthority />
          </Group>
        )}
      </section>
      {previous && (
        <section aria-labelledby="tls-previous">
          <h2 id="tls-previous">{t("network.previous")}</h2>
          <Certificate certificate={previous} />
          <Group mt="md">
            <Button
              variant="default"
              loading={rollBack.isPending}
              onClick={() => void ifAgreed("rollBack", () => rollBack.mutate({}))}
            >
              {t("network.rollBack")}
            </Button>
          </Group>
        </section>
      )}
      <Acme host={host} files={current?.source === "files"} />
      <section aria-labelledby="tls-request">
        <h2 id="tls-request">{t("network.requestTitle")}</h2>
        {request && (
          <>
            <p>
              {t("network.waiting", { names: request.names.join(", ") })} <When at={request.createdAt} />
            </p>
            <Textarea
              label={t("network.csr")}
              classNames={{ input: "pem" }}
              value={request.csrPem}
              readOnly
              autosize
              maxRows={8}
            />
            <Group my="md">
              <Button variant="default" onClick={() => clipboard.copy(request.csrPem)}>
                {clipboard.copied ? common("copied") : common("copy")}
              </Button>
              <Button
                variant="default"
                onClick={() => void ask("file.save", { name: "signet.csr.pem", text: request.csrPem })}
              >
                {t("network.saveCsr")}
              </Button>
            </Group>
          </>
        )}
        <RequestCertificate host={host} />
      </section>
      <section aria-labelledby="tls-install">
        <h2 id="tls-install">{t("network.installTitle")}</h2>
        <InstallCertificate waiting={request !== null} />
      </section>
    </div>
  );
}

/** The certificate of the appliance's own authority, for the machines that shall trust it. */
function OwnAuthority() {
  const save = useMutation({
    mutationFn: async () => {
      const { certificatePem } = await callAppliance(getOwnAuthority, {});
      return await ask("file.save", { name: "signet-authority.pem", text: certificatePem });
    },
    onSuccess: ({ saved }) => saved !== null && notify({ message: t("saved", { path: saved }) }),
  });
  return (
    <>
      <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        {t("network.saveAuthority")}
      </Button>
      {save.isError && <Failure error={save.error} />}
    </>
  );
}
