import { Button } from "@mantine/core";
import {
  endAnySession,
  listAccess,
  type ManagedKey,
  type ManagedSession,
  revokeAnyKey,
} from "../../../../../server/features/sign-in/access-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { RecoverOwner } from "./access/RecoverOwner.tsx";
import { RevokePerson } from "./access/RevokePerson.tsx";

const t = translator("console");

/** Who is signed in and which API keys work, over all organizations; and how to end it. */
export function AccessPage() {
  const access = useLocal(listAccess, {});
  return (
    <>
      <PageHeader title={t("access.nav")} description={t("access.description")} />
      <Loaded query={access}>
        {({ sessions, keys }) => (
          <>
            <h2>{t("access.sessions")}</h2>
            {sessions.length === 0 ? (
              <Empty title={t("access.noSessions")} />
            ) : (
              <table className="list-table">
                <thead>
                  <tr>
                    <th scope="col">{t("access.person")}</th>
                    <th scope="col">{t("access.from")}</th>
                    <th scope="col">{t("access.lastSeen")}</th>
                    <th scope="col">{t("actions")}</th>
                  </tr>
                </thead>
                <tbody>
                  {sessions.map((session) => (
                    <SessionRow key={session.id} session={session} />
                  ))}
                </tbody>
              </table>
            )}
            <h2>{t("access.keys")}</h2>
            {keys.length === 0 ? (
              <Empty title={t("access.noKeys")} />
            ) : (
              <table className="list-table">
                <thead>
                  <tr>
                    <th scope="col">{t("access.key")}</th>
                    <th scope="col">{t("access.organization")}</th>
                    <th scope="col">{t("access.lastUsed")}</th>
                    <th scope="col">{t("actions")}</th>
                  </tr>
                </thead>
                <tbody>
                  {keys.map((key) => (
                    <KeyRow key={key.id} apiKey={key} />
                  ))}
                </tbody>
              </table>
            )}
            <div className="sections below">
              <section aria-labelledby="revoke-person">
                <h2 id="revoke-person">{t("access.revokeTitle")}</h2>
                <RevokePerson />
              </section>
              <section aria-labelledby="recover-owner">
                <h2 id="recover-owner">{t("access.recoverTitle")}</h2>
                <RecoverOwner />
              </section>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function SessionRow({ session }: { session: ManagedSession }) {
  const { id, person, organization, method, ip, userAgent, signedInAt, lastSeenAt } = session;
  const end = useLocalAct(endAnySession, {
    changes: [listAccess],
    onDone: () => notify({ message: t("access.sessionEnded") }),
  });
  return (
    <tr>
      <th scope="row">
        {person.email}
        <small>{organization?.name}</small>
      </th>
      <td data-label={t("access.from")}>
        {ip} ({method})<small>{userAgent}</small>
        {end.isError && <Failure error={end.error} />}
      </td>
      <td data-label={t("access.lastSeen")}>
        <When at={lastSeenAt} />
        <small>
          {t("access.signedIn")} <When at={signedInAt} />
        </small>
      </td>
      <td data-label={t("actions")}>
        <Button
          size="compact-sm"
          variant="default"
          loading={end.isPending}
          onClick={() => end.mutate({ params: { id } })}
        >
          {t("access.end")}
          <span className="spoken"> {person.email}</span>
        </Button>
      </td>
    </tr>
  );
}

function KeyRow({ apiKey }: { apiKey: ManagedKey }) {
  const { id, organization, name, hint, mode, createdBy, lastUsedAt, lastUsedIp } = apiKey;
  const confirm = useConfirm();
  const revoke = useLocalAct(revokeAnyKey, {
    changes: [listAccess],
    onDone: () => notify({ message: t("access.keyRevoked") }),
  });
  const ask = async () => {
    const agreed = await confirm({
      title: t("access.revokeAsk", { name }),
      text: t("access.revokeText"),
      confirm: t("access.revoke"),
      danger: true,
    });
    if (agreed) revoke.mutate({ params: { id } });
  };
  return (
    <tr>
      <th scope="row">
        {name}
        <small>
          <code>{hint}</code>
        </small>
        {revoke.isError && <Failure error={revoke.error} />}
      </th>
      <td data-label={t("access.organization")}>
        {organization.name}{" "}
        <StatusBadge tone={mode === "live" ? "good" : "neutral"}>{t(`access.mode.${mode}`)}</StatusBadge>
        <small>{createdBy}</small>
      </td>
      <td data-label={t("access.lastUsed")}>
        {lastUsedAt === null ? t("access.never") : <When at={lastUsedAt} />}
        <small>{lastUsedIp}</small>
      </td>
      <td data-label={t("actions")}>
        <Button size="compact-sm" variant="default" loading={revoke.isPending} onClick={() => void ask()}>
          {t("access.revoke")}
          <span className="spoken"> {name}</span>
        </Button>
      </td>
    </tr>
  );
}
