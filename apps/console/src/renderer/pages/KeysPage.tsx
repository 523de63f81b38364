import { Button } from "@mantine/core";
import type { z } from "zod";
import {
  listKeyRecords,
  listManagedKeys,
  type ManagedKeyInfo,
  rotateManagedAuthority,
  rotateManagedKey,
  type TokenView,
  testSignKeys,
} from "../../../../../server/features/keys/managed-contract.ts";
import { dateTime, pageLanguage, translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { Failure } from "../Failure.tsx";
import { wordsOf } from "../finding-words.ts";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { Said } from "../Said.tsx";
import { expiryTone } from "./expiry.ts";
import { InstallKeyCertificate, RequestKeyCertificate } from "./keys/CertifyKey.tsx";
import { ImportKey } from "./keys/ImportKey.tsx";
import { KeyRecords } from "./keys/KeyRecords.tsx";
import { NewKey } from "./keys/NewKey.tsx";
import { TokenPin, TokenSlots } from "./keys/TokenSlots.tsx";

const t = translator("console");

/** The keys that seal, stamp and anchor, and the HSM that they may lie in. */
export function KeysPage() {
  const keys = useLocal(listManagedKeys, {});
  const sign = useLocalAct(testSignKeys);
  return (
    <>
      <PageHeader
        title={t("keys.nav")}
        description={t("keys.description")}
        actions={
          <Button loading={sign.isPending} onClick={() => sign.mutate({ body: {} })}>
            {t("keys.testSign")}
          </Button>
        }
      />
      {sign.isError && <Failure error={sign.error} />}
      {sign.isSuccess && (
        <div className="notice" role="status">
          <strong>{t("keys.signed")}</strong>
          <ul>
            {sign.data.data.map(({ id, use, storage, milliseconds }) => (
              <li key={id}>
                {t(`keys.use.${use}`)}: {t(`keys.storage.${storage}`)}, {t("keys.took", { milliseconds })}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Loaded query={keys}>
        {({ data, token }) => (
          <>
            <table className="list-table">
              <thead>
                <tr>
                  <th scope="col">{t("keys.key")}</th>
                  <th scope="col">{t("keys.where")}</th>
                  <th scope="col">{t("keys.certificate")}</th>
                  <th scope="col">{t("keys.state")}</th>
                  <th scope="col">{t("actions")}</th>
                </tr>
              </thead>
              <tbody>
                {data.map((key) => (
                  <KeyRow key={`${key.use}-${key.id}`} info={key} />
                ))}
              </tbody>
            </table>
            <div className="sections below">
              <section aria-labelledby="token">
                <h2 id="token">{t("keys.token")}</h2>
                {token === null ? <p>{t("keys.noToken")}</p> : <Token token={token} />}
                <TokenSlots />
              </section>
              <section aria-labelledby="new-key">
                <h2 id="new-key">{t("keys.newTitle")}</h2>
                <NewKey hsm={token?.found != null} />
              </section>
              <section aria-labelledby="request-key">
                <h2 id="request-key">{t("keys.requestTitle")}</h2>
                <RequestKeyCertificate keys={data} />
              </section>
              <section aria-labelledby="install-key">
                <h2 id="install-key">{t("keys.installTitle")}</h2>
                <InstallKeyCertificate />
              </section>
              <section aria-labelledby="import-key">
                <h2 id="import-key">{t("keys.importTitle")}</h2>
                <ImportKey />
              </section>
              <section aria-labelledby="key-records">
                <h2 id="key-records">{t("keys.records")}</h2>
                <KeyRecords />
              </section>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

const tones = { "in-use": "good", waiting: "waiting", retired: "neutral" } as const;

/** Puts a waiting key into the place of the one in use, or replaces the authority. */
function KeyActs({ id, use, state }: ManagedKeyInfo) {
  const confirm = useConfirm();
  const changes = [listManagedKeys, listKeyRecords];
  const onDone = ({ record }: { record: number }) => notify({ message: t("keys.replaced", { record }) });
  const rotate = useLocalAct(rotateManagedKey, { changes, onDone });
  const authority = useLocalAct(rotateManagedAuthority, { changes, onDone });
  const what = use === "ca" ? (state === "in-use" ? "replace" : null) : state === "waiting" ? "putIntoUse" : null;
  if (what === null) return null;
  const ask = async () => {
    const name = t(`keys.use.${use}`);
    const agreed = await confirm({
      title: t(`keys.${what}Ask`, { name }),
      text: t(`keys.${what}Text`),
      confirm: t(`keys.${what}`),
    });
    if (!agreed) return;
    if (use === "ca") authority.mutate({ body: {} });
    else rotate.mutate({ body: { use, key: id } });
  };
  return (
    <>
      {rotate.isError && <Failure error={rotate.error} />}
      {authority.isError && <Failure error={authority.error} />}
      <Button
        size="compact-sm"
        variant="default"
        loading={rotate.isPending || authority.isPending}
        onClick={() => void ask()}
      >
        {t(`keys.${what}`)}
        <span className="spoken">
          {" "}
          {t(`keys.use.${use}`)} {id.slice(0, 12)}
        </span>
      </Button>
    </>
  );
}

function KeyRow({ info }: { info: ManagedKeyInfo }) {
  const { id, use, kind, storage, state, subject, issuer, validUntil, retiredAt } = info;
  return (
    <tr>
      <th scope="row">
        {t(`keys.use.${use}`)}
        <small>
          {kind}, <code>{id.slice(0, 16)}</code>
        </small>
      </th>
      <td data-label={t("keys.where")}>{t(`keys.storage.${storage}`)}</td>
      <td data-label={t("keys.certificate")}>
        {subject ?? t("keys.noCertificate")}
        {issuer !== null && <small>{t("keys.by", { issuer })}</small>}
        {validUntil !== null && (
          <small>
            {t("keys.until")} <time dateTime={validUntil}>{dateTime(validUntil)}</time>
          </small>
        )}
      </td>
      <td data-label={t("keys.state")}>
        <span className="badges">
          <StatusBadge tone={tones[state]}>{t(`keys.states.${state}`)}</StatusBadge>
          {state === "in-use" && validUntil !== null && expiryTone(validUntil) !== "good" && (
            <StatusBadge tone={expiryTone(validUntil)}>{t(`overview.expiry.${expiryTone(validUntil)}`)}</StatusBadge>
          )}
        </span>
        {retiredAt !== null && (
          <small>
            <time dateTime={retiredAt}>{dateTime(retiredAt)}</time>
          </small>
        )}
      </td>
      <td data-label={t("actions")}>
        <KeyActs {...info} />
      </td>
    </tr>
  );
}

/** What to do, where the appliance's own words, which end with it, are of another language than the page. */
function Remedy({ code }: { code: string }) {
  const words = wordsOf("findings", `keyTrouble.${code}`, {}, "");
  if (pageLanguage() === "en" || words === "") return null;
  return (
    <p>
      <b>{t("acme.whatToDo")}</b> {words}.
    </p>
  );
}

/** What another PIN mends. */
const pinTroubles: ReadonlySet<string> = new Set(["pin-wrong", "pin-file-unreadable"]);

function Token({ token: { module, label, found, trouble } }: { token: z.infer<typeof TokenView> }) {
  return (
    <>
      {trouble && (
        <div className="notice bad" role="alert">
          <strong>{t("keys.trouble")}</strong>
          <Said>{trouble.message}</Said>
          <Remedy code={trouble.code} />
        </div>
      )}
      <dl className="facts">
        <dt>{t("keys.module")}</dt>
        <dd>
          <code>{module}</code>
        </dd>
        <dt>{t("keys.label")}</dt>
        <dd>{label}</dd>
        {found && (
          <>
            <dt>{t("keys.model")}</dt>
            <dd>
              {found.model} ({found.serial})
            </dd>
            <dt>{t("keys.slot")}</dt>
            <dd>
              <code>{found.slot}</code>
            </dd>
            <dt>{t("keys.held")}</dt>
            <dd>{found.keys}</dd>
          </>
        )}
      </dl>
      {found && found.missing.length > 0 && (
        <p className="notice">{t("keys.missing", { kinds: found.missing.join(", ") })}</p>
      )}
      {trouble && pinTroubles.has(trouble.code) && <TokenPin about={{}} label={label} />}
    </>
  );
}
