import { Button, Checkbox, Group } from "@mantine/core";
import { useState } from "react";
import {
  type AcmeState,
  getAcme,
  renewAcme,
  replaceAcmeKey,
  turnOffAcme,
} from "../../../../../../server/features/tls/acme/contract.ts";
import { getTls } from "../../../../../../server/features/tls/contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { useConfirm } from "../../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../../shared/ui/kit/When.tsx";
import { Failure } from "../../Failure.tsx";
import { Loaded } from "../../Loaded.tsx";
import { useLocal, useLocalAct } from "../../local.ts";
import { AcmeTrouble } from "./AcmeTrouble.tsx";
import { SetUpAcme } from "./SetUpAcme.tsx";

const t = translator("console");
const changes = [getAcme, getTls];
/** How often what moves is asked for, in milliseconds. */
export const everyMs = 5000;
const tones = {
  off: "neutral",
  working: "busy",
  waiting: "busy",
  valid: "good",
  failed: "bad",
  paused: "waiting",
} as const;

/** A certificate that an authority issues and renews by itself. @param files settings name the files of the certificate */
export function Acme({ host, files }: { host: string; files: boolean }) {
  const acme = useLocal(getAcme, {}, { refetchInterval: everyMs });
  const [changing, setChanging] = useState(false);
  return (
    <section aria-labelledby="tls-acme">
      <h2 id="tls-acme">{t("acme.title")}</h2>
      <p className="soft">{t("acme.hint")}</p>
      <Loaded query={acme} rows={3}>
        {(state) => (
          <>
            {state.setup && <Account state={state} setup={state.setup} />}
            {files ? (
              <p className="notice">{t("acme.files")}</p>
            ) : state.setup && !changing ? (
              <Group mt="md">
                <Button variant="default" onClick={() => setChanging(true)}>
                  {t("acme.change")}
                </Button>
              </Group>
            ) : (
              <SetUpAcme
                key={state.setup?.since ?? "off"}
                host={host}
                setup={state.setup}
                ports={state.ports}
                onDone={() => setChanging(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Account({ state, setup }: { state: AcmeState; setup: NonNullable<AcmeState["setup"]> }) {
  const { trouble, failures, nextAt, renewal, ports } = state;
  const renew = useLocalAct(renewAcme, { changes, onDone: () => notify({ message: t("acme.asked") }) });
  const replace = useLocalAct(replaceAcmeKey, { changes, onDone: () => notify({ message: t("acme.keyReplaced") }) });
  const confirm = useConfirm();
  const failed = renew.error ?? replace.error;
  const ifAgreed = async (what: "renew" | "replaceKey", act: () => void) => {
    const [title, text] = [t(`acme.ask.${what}`), t(`acme.askText.${what}`)];
    if (await confirm({ title, text, confirm: t(`acme.do.${what}`) })) act();
  };
  return (
    <>
      <p className="badges" role="status">
        <StatusBadge tone={tones[state.state]}>{t(`acme.state.${state.state}`)}</StatusBadge>
        {failures > 0 && <StatusBadge tone="neutral">{t("acme.failures", { count: failures })}</StatusBadge>}
      </p>
      {state.state === "paused" && <p className="notice">{t("acme.pausedText")}</p>}
      {trouble && <AcmeTrouble trouble={trouble} nextAt={nextAt} />}
      <dl className="facts">
        <dt>{t("acme.directory")}</dt>
        <dd>
          <code>{setup.directory}</code>
          {setup.ownRoot && <small> {t("acme.ownRoot")}</small>}
        </dd>
        <dt>{t("network.names")}</dt>
        <dd>{setup.names.join(", ")}</dd>
        <dt>{t("acme.contacts")}</dt>
        <dd>{setup.contacts.length > 0 ? setup.contacts.join(", ") : "–"}</dd>
        <dt>{t("acme.challenge")}</dt>
        <dd>{t(`acme.challengeType.${setup.challenge}`)}</dd>
        <dt>{t("acme.ports")}</dt>
        <dd>{t("acme.portsText", { tls: ports.tls, http: ports.http ?? "–" })}</dd>
        <dt>{t("acme.account")}</dt>
        <dd>
          {setup.account === null ? t("acme.noAccount") : <code>{setup.account}</code>}
          {setup.eabKid !== null && <small> {t("acme.boundTo", { kid: setup.eabKid })}</small>}
        </dd>
        {renewal && (
          <>
            <dt>{t("acme.renewal")}</dt>
            <dd>
              <time dateTime={renewal.at}>{dateTime(renewal.at)}</time>, {t(`acme.by.${renewal.by}`)}
              {renewal.explanation !== null && (
                <small>
                  {" "}
                  {t("acme.explanation")} <code>{renewal.explanation}</code>
                </small>
              )}
            </dd>
          </>
        )}
        {!trouble && state.state === "waiting" && nextAt !== null && (
          <>
            <dt>{t("acme.next")}</dt>
            <dd>
              <When at={nextAt} />
            </dd>
          </>
        )}
      </dl>
      {failed && <Failure error={failed} />}
      <Group mt="md">
        <Button loading={renew.isPending} onClick={() => void ifAgreed("renew", () => renew.mutate({}))}>
          {t("acme.do.renew")}
        </Button>
        {setup.account !== null && (
          <Button
            variant="default"
            loading={replace.isPending}
            onClick={() => void ifAgreed("replaceKey", () => replace.mutate({}))}
          >
            {t("acme.do.replaceKey")}
          </Button>
        )}
      </Group>
      <TurnOff hasAccount={setup.account !== null} />
    </>
  );
}

function TurnOff({ hasAccount }: { hasAccount: boolean }) {
  const [close, setClose] = useState(false);
  const off = useLocalAct(turnOffAcme, { changes, onDone: () => notify({ message: t("acme.turnedOff") }) });
  const confirm = useConfirm();
  const deactivateAccount = hasAccount && close;
  const press = async () => {
    const agreed = await confirm({
      title: t("acme.ask.off"),
      text: deactivateAccount ? t("acme.askText.offAndClose") : t("acme.askText.off"),
      confirm: t("acme.do.off"),
      danger: true,
    });
    if (agreed) off.mutate({ body: { deactivateAccount } });
  };
  return (
    <>
      {off.isError && <Failure error={off.error} />}
      <Group mt="md">
        <Button variant="default" loading={off.isPending} onClick={() => void press()}>
          {t("acme.do.off")}
        </Button>
        {hasAccount && (
          <Checkbox
            label={t("acme.closeAccount")}
            checked={close}
            onChange={(event) => setClose(event.currentTarget.checked)}
          />
        )}
      </Group>
    </>
  );
}
