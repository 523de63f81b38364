import { Button, Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  deleteSession,
  deleteSessions,
  listSessions,
  type SessionInfo,
} from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useAct, useWholeList } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { leaveSession } from "../../session.tsx";
import { AccountSection } from "./AccountSection.tsx";
import { readUserAgent } from "./device.ts";

/** The ways to sign in that have a name of their own here. */
const methods = ["password", "code", "magic_link", "passkey", "google", "microsoft"] as const;

/** Where the person is signed in, and the way to end it. */
export function Sessions() {
  const t = translator("settings");
  const sessions = useWholeList(listSessions, (page) => callEndpoint(listSessions, page));
  const confirm = useConfirm();
  const queries = useQueryClient();
  const router = useRouter();
  const endAll = useAct(deleteSessions, { changes: [] });
  const list = (sessions.data ?? []).toSorted((a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt));

  const endOthers = async () => {
    const agreed = await confirm({
      title: t("account.sessions.othersTitle"),
      text: t("account.sessions.othersText"),
      confirm: t("account.sessions.others"),
    });
    if (!agreed) return;
    try {
      await endAll.mutateAsync({ query: { keep: "current" } });
      notify({ message: t("account.sessions.othersDone") });
      await queries.invalidateQueries({ queryKey: [listSessions.id] });
    } catch {
      // Shown below the list.
    }
  };
  const endEverywhere = async () => {
    const agreed = await confirm({
      title: t("account.sessions.allTitle"),
      text: t("account.sessions.allText"),
      confirm: t("account.sessions.all"),
      danger: true,
    });
    if (!agreed) return;
    try {
      // What is open is left first, so that unsaved work can object.
      await router.navigate({ to: "/" });
      if (router.state.location.pathname !== "/") return;
      await callEndpoint(deleteSessions, { query: {} });
      leaveSession(queries);
      window.location.assign("/sign-in");
    } catch (error) {
      notify({ message: error instanceof Error ? error.message : String(error), tone: "bad" });
    }
  };

  return (
    <AccountSection title={t("account.sessions.title")} text={t("account.sessions.text")}>
      {sessions.isPending && <Loading rows={2} />}
      {sessions.isError && <Failure error={sessions.error} />}
      <ul className="account-list" aria-label={t("account.sessions.title")}>
        {list.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      {endAll.isError && <Failure error={endAll.error} />}
      <Group>
        {list.length > 1 && (
          <Button variant="default" loading={endAll.isPending} onClick={() => void endOthers()}>
            {t("account.sessions.others")}
          </Button>
        )}
        <Button variant="default" loading={endAll.isPending} onClick={() => void endEverywhere()}>
          {t("account.sessions.all")}
        </Button>
      </Group>
    </AccountSection>
  );
}

function SessionRow({ session }: { session: SessionInfo }) {
  const t = translator("settings");
  const end = useAct(deleteSession, { changes: [listSessions] });
  const { browser, system } = readUserAgent(session.userAgent ?? "");
  const device = [browser, system].filter((part) => part !== null).join(", ") || t("account.sessions.unknown");
  const method = methods.find((known) => known === session.method);
  return (
    <li>
      <div className="account-line">
        <div className="account-words">
          <strong>{device}</strong>
          {session.current && <StatusBadge tone="good">{t("account.sessions.current")}</StatusBadge>}
          <small>
            {session.ip}
            {" · "}
            {t("account.sessions.seen")} <When at={session.lastSeenAt} />
          </small>
          <small>
            {method && `${t(`account.sessions.method.${method}`)} · `}
            {t("account.sessions.signedIn")} <When at={session.signedInAt} />
          </small>
        </div>
        {!session.current && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("account.sessions.endNamed", { device })}
            loading={end.isPending}
            onClick={() => end.mutate({ params: { id: session.id } })}
          >
            {t("account.sessions.end")}
          </Button>
        )}
      </div>
      {end.isError && <Failure error={end.error} />}
    </li>
  );
}
