import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { OrgRole } from "../../../../../server/features/identity/contract.ts";
import { createInvitation, listInvitations } from "../../../../../server/features/organization/people-contract.ts";
import { Email } from "../../../../../server/kernel/wire.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { useSession } from "../../session.tsx";
import { LanguageSelect } from "./LanguageSelect.tsx";

/** The dialog that invites one person. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const t = translator("settings");
  const { organization } = useSession();
  const [email, setEmail] = useState("");
  const [wrong, setWrong] = useState(false);
  const [role, setRole] = useState<OrgRole>("member");
  const [locale, setLocale] = useState("");
  const invite = useAct(createInvitation, { changes: [listInvitations] });
  const fresh = useFresh();
  const errors = fieldErrors(invite.error);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const address = Email.safeParse(email.trim());
    setWrong(!address.success);
    if (!address.success) return;
    try {
      const body = { email: address.data, role, ...(locale === "" ? {} : { locale }) };
      await fresh(() => invite.mutateAsync({ body }));
      notify({ message: t("members.invited", { email: address.data }) });
      onClose();
    } catch {
      // Shown in the dialog.
    }
  };
  return (
    <Dialog opened onClose={onClose} busy={invite.isPending} title={t("members.inviteTitle")} centered>
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <p>{t("members.inviteText")}</p>
        {invite.isError && Object.keys(errors).length === 0 && <Failure error={invite.error} />}
        <TextInput
          label={t("members.inviteEmail")}
          type="email"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={wrong ? t("members.badEmail") : errors["#/email"]}
          maxLength={254}
          autoComplete="off"
          required
          data-autofocus
        />
        <Radio.Group label={t("members.role")} value={role} onChange={(value) => setRole(OrgRole.parse(value))}>
          <Stack gap="xs" mt={6}>
            {OrgRole.options
              .filter((each) => organization?.role === "owner" || each !== "owner")
              .map((each) => (
                <Radio key={each} value={each} label={t(`roles.${each}`)} description={t(`members.about.${each}`)} />
              ))}
          </Stack>
        </Radio.Group>
        <LanguageSelect
          label={t("members.inviteLocale")}
          value={locale}
          none={t("members.inviteLocaleAuto")}
          onChange={setLocale}
          error={errors["#/locale"]}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={invite.isPending}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" loading={invite.isPending}>
            {t("members.inviteSubmit")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
