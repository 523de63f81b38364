import { Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { getOrganizationSettings } from "../../../../../server/features/organization/contract.ts";
import { updateOrganization } from "../../../../../server/features/organization/people-contract.ts";
import type { OrganizationSettings } from "../../../../../server/features/organization/settings-contract.ts";
import { getSession } from "../../../../../server/features/sign-in/contract.ts";
import { Email } from "../../../../../server/kernel/wire.ts";
import { useAct, useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useCan, useSession } from "../../session.tsx";
import { CreateOrganization } from "../shell/CreateOrganization.tsx";
import { LanguageSelect } from "./LanguageSelect.tsx";
import { LeaveOrganization } from "./LeaveOrganization.tsx";
import { Retention } from "./Retention.tsx";
import { TimeZoneSelect } from "./TimeZoneSelect.tsx";

/** The organization that the person works in, the way to a further one, and the way out. */
export function OrganizationPage() {
  const t = translator("settings");
  const { organization, canCreateOrganization } = useSession();
  const canManage = useCan("org:manage");
  const [creating, create] = useDisclosure(false);
  if (!organization) return null;
  return (
    <>
      <PageHeader title={t("organization.title")} description={t("organization.description")} />
      {canManage ? <Settings /> : <Facts organization={organization} />}
      {canManage && <Retention />}
      {canCreateOrganization && (
        <section className="settings-section">
          <h2>{t("organization.more")}</h2>
          <p>{t("organization.moreText")}</p>
          <Button variant="default" onClick={create.open}>
            {t("organization.create")}
          </Button>
        </section>
      )}
      <LeaveOrganization organization={organization} />
      <CreateOrganization opened={creating} onClose={create.close} />
    </>
  );
}

/** What members see who change nothing here. */
function Facts({ organization }: { organization: NonNullable<DashboardSession["organization"]> }) {
  const t = translator("settings");
  return (
    <>
      <dl className="settings-facts">
        <dt>{t("organization.name")}</dt>
        <dd>{organization.name}</dd>
        <dt>{t("organization.timeZone")}</dt>
        <dd>{organization.timeZone}</dd>
        <dt>{t("organization.yourRole")}</dt>
        <dd>{t(`roles.${organization.role}`)}</dd>
      </dl>
      <p className="soft">{t("organization.readOnly")}</p>
    </>
  );
}

function Settings() {
  const settings = useEndpoint(getOrganizationSettings, {});
  // What is being filled in stays, also while the settings cannot be fetched anew.
  if (settings.data) return <SettingsForm saved={settings.data} />;
  return settings.isError ? <Failure error={settings.error} /> : <Loading rows={4} height={60} />;
}

type Values = { name: string; locale: string; timeZone: string; notifyEmail: string };

function valuesOf({ name, locale, timeZone, notifyEmail }: OrganizationSettings): Values {
  return { name, locale, timeZone, notifyEmail: notifyEmail ?? "" };
}

/** The changes that are not among those that were sent. */
function without(now: Partial<Values>, sent: Partial<Values>): Partial<Values> {
  const left = { ...now };
  for (const key of Object.keys(left) as (keyof Values)[]) if (left[key] === sent[key]) delete left[key];
  return left;
}

function SettingsForm({ saved }: { saved: OrganizationSettings }) {
  const t = translator("settings");
  const before = valuesOf(saved);
  // Only what the person changed, so that what a colleague saves meanwhile is not written back.
  const [changed, setChanged] = useState<Partial<Values>>({});
  const [found, setFound] = useState<{ name?: string; notifyEmail?: string }>({});
  const values = { ...before, ...changed };
  const dirty = (Object.keys(changed) as (keyof Values)[]).some((key) => values[key] !== before[key]);
  useUnsaved(dirty);
  const update = useAct(updateOrganization, { changes: [getOrganizationSettings, getSession] });
  const fresh = useFresh();
  const refused = fieldErrors(update.error);
  const set = (key: keyof Values) => (value: string) => setChanged((earlier) => ({ ...earlier, [key]: value }));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const name = values.name.trim();
    const notifyEmail = values.notifyEmail.trim();
    const wrong = {
      ...(name === "" ? { name: t("organization.required") } : {}),
      ...(notifyEmail !== "" && !Email.safeParse(notifyEmail).success
        ? { notifyEmail: t("organization.badEmail") }
        : {}),
    };
    setFound(wrong);
    if (Object.keys(wrong).length > 0) return;
    try {
      const body = {
        ...changed,
        ...(changed.name === undefined ? {} : { name }),
        ...(changed.notifyEmail === undefined ? {} : { notifyEmail: notifyEmail === "" ? null : notifyEmail }),
      };
      await fresh(() => update.mutateAsync({ body }));
      // What was typed meanwhile is still to be saved.
      setChanged((now) => without(now, changed));
      notify({ message: t("organization.saved") });
    } catch {
      // Shown at the members or above the form.
    }
  };
  return (
    <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
      {update.isError && Object.keys(refused).length === 0 && <Failure error={update.error} />}
      <TextInput
        label={t("organization.name")}
        description={t("organization.nameHint")}
        value={values.name}
        onChange={(event) => set("name")(event.currentTarget.value)}
        error={found.name ?? refused["#/name"]}
        maxLength={200}
        autoComplete="organization"
        required
      />
      <LanguageSelect
        label={t("organization.locale")}
        description={t("organization.localeHint")}
        value={values.locale}
        onChange={set("locale")}
        error={refused["#/locale"]}
      />
      <TimeZoneSelect
        label={t("organization.timeZone")}
        description={t("organization.timeZoneHint")}
        value={values.timeZone}
        onChange={set("timeZone")}
        error={refused["#/timeZone"]}
      />
      <TextInput
        label={t("organization.notifyEmail")}
        description={t("organization.notifyEmailHint")}
        type="email"
        value={values.notifyEmail}
        onChange={(event) => set("notifyEmail")(event.currentTarget.value)}
        error={found.notifyEmail ?? refused["#/notifyEmail"]}
        maxLength={254}
        autoComplete="off"
      />
      <div>
        <Button type="submit" disabled={!dirty} loading={update.isPending}>
          {t("organization.save")}
        </Button>
      </div>
    </form>
  );
}
