import { Button } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useSession } from "../../session.tsx";
import { AccountSection } from "./AccountSection.tsx";
import { PasswordForm } from "./PasswordForm.tsx";

/** Whether the account has a password, and the way to choose one. */
export function PasswordSection() {
  const t = translator("settings");
  const { hasPassword } = useSession().user;
  const [choosing, setChoosing] = useState(false);
  /** The focus comes back to the button that opened the form. */
  const [opened, setOpened] = useState(false);
  return (
    <AccountSection title={t("account.password.title")} text={t("account.password.text")}>
      {choosing ? (
        <PasswordForm
          onClose={() => setChoosing(false)}
          onDone={() => {
            setChoosing(false);
            notify({ message: t(hasPassword ? "account.password.changed" : "account.password.done") });
          }}
        />
      ) : (
        <div className="account-line">
          <span>{t(hasPassword ? "account.password.present" : "account.password.absent")}</span>
          <Button
            variant="default"
            autoFocus={opened}
            onClick={() => {
              setOpened(true);
              setChoosing(true);
            }}
          >
            {t(hasPassword ? "account.password.change" : "account.password.set")}
          </Button>
        </div>
      )}
    </AccountSection>
  );
}
