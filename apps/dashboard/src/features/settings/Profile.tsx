import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { updateProfile } from "../../../../../server/features/sign-in/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { languageFor, languages } from "../../../../shared/languages.ts";
import { changeLanguage } from "../../../../shared/ui/changeLanguage.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { sessionQuery, useSession } from "../../session.tsx";
import { AccountSection } from "./AccountSection.tsx";

/** Stands for the language of the browser. */
const ofBrowser = "";

/** Name and language of the person. */
export function Profile() {
  const t = translator("settings");
  const { user } = useSession();
  const queries = useQueryClient();
  const chosen = user.locale === null ? ofBrowser : languageFor([user.locale]);
  const [name, setName] = useState(user.name);
  const [language, setLanguage] = useState<string>(chosen);
  const [checked, setChecked] = useState(false);
  const save = useAct(updateProfile, {
    onDone: (session) => queries.setQueryData(sessionQuery.queryKey, session),
  });
  const missing = checked && name.trim() === "";
  const dirty = name !== user.name || language !== chosen;
  useUnsaved(dirty && !save.isPending);
  const errors = fieldErrors(save.error);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (name.trim() === "") return;
    try {
      const locale = language === ofBrowser ? null : language;
      const { user: saved } = await save.mutateAsync({
        body: { name: name.trim(), ...(language === chosen ? {} : { locale }) },
      });
      // What was typed meanwhile is still to be saved.
      setName((now) => (now === name ? saved.name : now));
      if (language !== chosen)
        await changeLanguage(saved.locale ? languageFor([saved.locale]) : languageFor(navigator.languages));
      // In the language that was chosen.
      notify({ message: t("account.profile.saved") });
    } catch {
      // Shown in the form.
    }
  };

  return (
    <AccountSection title={t("account.profile.title")} text={t("account.profile.text")}>
      <form className="account-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextInput
          label={t("account.profile.name")}
          autoComplete="name"
          maxLength={200}
          value={name}
          error={missing ? t("account.profile.nameMissing") : errors["#/name"]}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={t("account.profile.email")}
          description={t("account.profile.emailHint")}
          value={user.email}
          readOnly
        />
        <NativeSelect
          label={t("account.profile.language")}
          description={t("account.profile.languageHint")}
          value={language}
          data={[
            { value: ofBrowser, label: t("account.profile.browserLanguage") },
            ...languages().map(({ tag, name }) => ({ value: tag, label: name })),
          ]}
          onChange={(event) => setLanguage(event.currentTarget.value)}
        />
        {save.isError && !errors["#/name"] && <Failure error={save.error} />}
        <div>
          <Button type="submit" disabled={!dirty} loading={save.isPending}>
            {t("account.save")}
          </Button>
        </div>
      </form>
    </AccountSection>
  );
}
