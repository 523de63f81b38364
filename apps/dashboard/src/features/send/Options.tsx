import { ActionIcon, Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Cross } from "../../../../shared/ui/icons.tsx";
import { dayIn } from "./deadline.ts";
import type { Form } from "./form.ts";
import { LanguageSelect } from "./LanguageSelect.tsx";

const t = translator("send");

const members = ["expiresAt", "reminders", "locale", "externalId", "dedupeOn", "metadata"];
const isOption = (pointer: string) => members.some((member) => pointer.split("/")[1] === member);

/** Deadline, reminders, language, and what other systems know the envelope by: folded away until somebody wants them. */
export function Options({ form }: { form: Form }) {
  const { draft } = form;
  const [opened, setOpened] = useState(
    draft.expiry === "day" ||
      draft.reminders !== "template" ||
      draft.locale !== "" ||
      draft.externalId !== "" ||
      draft.metadata.length > 0,
  );
  const wrong = Object.keys(form.errors).some(isOption);
  return (
    <details
      className="send-options"
      open={opened || wrong}
      onToggle={({ currentTarget: { open } }) => setOpened(open)}
    >
      <summary>{t("options.open")}</summary>
      <OptionInputs form={form} />
    </details>
  );
}

function OptionInputs({ form }: { form: Form }) {
  const { draft, version, change, input, timeZone } = form;
  const { expiresInDays, reminders } = version.settings;
  const now = Date.now();
  return (
    <>
      <fieldset className="send-group">
        <legend>{t("options.deadline")}</legend>
        <div className="send-grid">
          <NativeSelect
            label={t("options.expiry")}
            value={draft.expiry}
            data={[
              {
                value: "template",
                label:
                  expiresInDays === null ? t("options.noExpiry") : t("options.expiryDays", { count: expiresInDays }),
              },
              { value: "day", label: t("options.expiryDay") },
            ]}
            onChange={(event) =>
              change({ expiry: event.currentTarget.value === "day" ? "day" : "template" }, "#/expiresAt")
            }
          />
          {draft.expiry === "day" && (
            <TextInput
              type="date"
              label={t("options.lastDay")}
              description={t("options.lastDayText", { timeZone })}
              inputWrapperOrder={["label", "input", "description", "error"]}
              value={draft.expiresOn}
              min={dayIn(timeZone, now)}
              max={dayIn(timeZone, now, 364)}
              required
              {...input("#/expiresAt")}
              onChange={(event) => change({ expiresOn: event.currentTarget.value }, "#/expiresAt")}
            />
          )}
        </div>
      </fieldset>
      <fieldset className="send-group">
        <legend>{t("options.reminders")}</legend>
        <NativeSelect
          label={t("options.remind")}
          value={draft.reminders}
          data={[
            {
              value: "template",
              label:
                reminders === null
                  ? t("options.remindersTemplateNone")
                  : t("options.remindersTemplate", { count: reminders.firstAfterDays }),
            },
            { value: "none", label: t("options.remindersNone") },
            { value: "own", label: t("options.remindersOwn") },
          ]}
          onChange={({ currentTarget: { value } }) =>
            change({ reminders: value === "own" || value === "none" ? value : "template" }, "#/reminders")
          }
        />
        {draft.reminders === "own" && (
          <div className="send-three">
            <TextInput
              label={t("options.firstAfterDays")}
              inputMode="numeric"
              value={draft.firstAfterDays}
              required
              {...input("#/reminders/firstAfterDays")}
              onChange={(event) => change({ firstAfterDays: event.currentTarget.value }, "#/reminders/firstAfterDays")}
            />
            <TextInput
              label={t("options.everyDays")}
              description={t("options.everyDaysText")}
              inputWrapperOrder={["label", "input", "description", "error"]}
              inputMode="numeric"
              value={draft.everyDays}
              {...input("#/reminders/everyDays")}
              onChange={(event) => change({ everyDays: event.currentTarget.value }, "#/reminders/everyDays")}
            />
            <TextInput
              label={t("options.maxReminders")}
              inputMode="numeric"
              value={draft.maxReminders}
              required
              {...input("#/reminders/max")}
              onChange={(event) => change({ maxReminders: event.currentTarget.value }, "#/reminders/max")}
            />
          </div>
        )}
      </fieldset>
      <fieldset className="send-group">
        <legend>{t("options.more")}</legend>
        <div className="send-grid">
          <LanguageSelect
            label={t("options.locale")}
            none={t("options.localeDefault", { locale: version.settings.locale })}
            value={draft.locale}
            input={input("#/locale")}
            onChange={(locale) => change({ locale }, "#/locale")}
          />
          <TextInput
            label={t("options.externalId")}
            description={t("options.externalIdText")}
            inputWrapperOrder={["label", "input", "description", "error"]}
            value={draft.externalId}
            maxLength={255}
            {...input("#/externalId")}
            onChange={(event) => change({ externalId: event.currentTarget.value }, "#/externalId")}
          />
        </div>
        <Metadata form={form} />
      </fieldset>
    </>
  );
}

function Metadata({ form }: { form: Form }) {
  const { draft, change, input } = form;
  const { metadata } = draft;
  return (
    <div className="send-metadata">
      <p className="soft">{t("options.metadataText")}</p>
      {metadata.map(({ id, key, value }, index) => {
        const at = `#/metadata/~${id}`;
        const edit = (patch: { key?: string; value?: string }) =>
          change({ metadata: metadata.map((one) => (one.id === id ? { ...one, ...patch } : one)) }, at, "#/metadata");
        return (
          <div className="send-other" key={id}>
            <TextInput
              label={t("options.key")}
              aria-label={t("options.keyOf", { number: index + 1 })}
              value={key}
              maxLength={40}
              {...input(at)}
              onChange={(event) => edit({ key: event.currentTarget.value })}
            />
            <TextInput
              label={t("options.value")}
              aria-label={t("options.valueOf", { number: index + 1 })}
              value={value}
              maxLength={500}
              {...input(`#/metadata/${key}`)}
              onChange={(event) => edit({ value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t("options.removeEntry", { number: index + 1 })}
              onClick={() => change({ metadata: metadata.filter((one) => one.id !== id) }, "#/metadata")}
            >
              <Cross />
            </ActionIcon>
          </div>
        );
      })}
      <Button
        variant="default"
        size="sm"
        disabled={metadata.length >= 50}
        onClick={() => change({ metadata: [...metadata, { id: crypto.randomUUID(), key: "", value: "" }] })}
      >
        {t("options.addEntry")}
      </Button>
    </div>
  );
}
