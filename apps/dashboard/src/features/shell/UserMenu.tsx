import { useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { signOut, updateProfile } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { languageFor, languages } from "../../../../shared/languages.ts";
import { changeLanguage } from "../../../../shared/ui/changeLanguage.ts";
import { ChevronUpDown } from "../../../../shared/ui/icons.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { mayRedraw } from "../../../../shared/ui/kit/useUnsaved.ts";
import { leaveSession, sessionQuery, useSession } from "../../session.tsx";
import { Choice } from "./Choice.tsx";
import { Disclosure } from "./Disclosure.tsx";
import { initials } from "./initials.ts";

const t = translator("shell");
const schemes = ["auto", "light", "dark"] as const;

/** Ends the session on this device. What is open is left first, so that unsaved work can object. */
function useLeave(): () => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  return async () => {
    await router.navigate({ to: "/" });
    if (router.state.location.pathname !== "/") return;
    try {
      await callEndpoint(signOut, {});
    } catch (error) {
      return notify({ message: error instanceof Error ? error.message : String(error), tone: "bad" });
    }
    leaveSession(queries);
    // A fresh page: nothing of the session stays in memory.
    window.location.assign("/sign-in");
  };
}

/** Oneself: account, how the pages look and speak, help, and the way out. */
export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { user } = useSession();
  const leave = useLeave();
  const face = (
    <>
      <span className="spoken">{t("user.menu")}</span>
      <span className="user-mark" aria-hidden="true">
        {initials(user.name)}
      </span>
      <span className="organization-words">
        <b>{user.name}</b>
        <small>{user.email}</small>
      </span>
      <ChevronUpDown size={18} />
    </>
  );
  return (
    <Disclosure className="user-button" face={face} side="above" label={user.name}>
      {(close) => (
        <>
          <Link to="/settings/account" onClick={close}>
            {t("user.account")}
          </Link>
          <button
            type="button"
            onClick={() => {
              close();
              onShortcuts();
            }}
          >
            {t("shortcuts.title")} <kbd>?</kbd>
          </button>
          <hr />
          <LanguageOfPerson />
          <Scheme />
          <hr />
          <a href="/verify">{t("user.verify")}</a>
          <a href="/docs">{t("user.docs")}</a>
          <hr />
          <button type="button" onClick={() => void leave()}>
            {t("user.signOut")}
          </button>
        </>
      )}
    </Disclosure>
  );
}

function LanguageOfPerson() {
  const queries = useQueryClient();
  const speak = async (tag: string) => {
    if (!(await mayRedraw("language"))) return;
    const language = languageFor([tag]);
    if (!(await changeLanguage(language))) return;
    try {
      queries.setQueryData(sessionQuery.queryKey, await callEndpoint(updateProfile, { body: { locale: language } }));
    } catch {
      // It holds on this device at least.
    }
  };
  return (
    <Choice
      legend={t("user.language")}
      name="language"
      value={pageLanguage()}
      options={languages().map(({ tag, name }) => ({ value: tag, label: name, lang: tag }))}
      onChoose={(tag) => void speak(tag)}
    />
  );
}

function Scheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Choice
      legend={t("user.scheme")}
      name="scheme"
      value={colorScheme}
      options={schemes.map((value) => ({ value, label: t(`scheme.${value}`) }))}
      onChoose={(chosen) => setColorScheme(schemes.find((scheme) => scheme === chosen) ?? "auto")}
    />
  );
}
