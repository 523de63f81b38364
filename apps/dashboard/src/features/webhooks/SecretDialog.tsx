import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import "./webhooks.css";

type Props = {
  title: string;
  secret: string;
  /** Until when the one before signs too. */
  until: string | null;
  onClose: () => void;
};

/** A signing secret, to be taken to the system that checks signatures. */
export function SecretDialog({ title, secret, until, onClose }: Props) {
  const t = translator("webhooks");
  return (
    <Dialog opened onClose={onClose} closeOnClickOutside={false} title={title} size="lg">
      <div className="webhook-form">
        <p className="notice">{t("secret.keep")}</p>
        <CopyField label={t("secret.label")} value={secret} focused />
        {until !== null && <p>{t("secret.previous", { at: dateTime(until) })}</p>}
        <p>
          {t("secret.check")} <Link to="/settings/webhooks/check">{t("secret.checkLink")}</Link>.
        </p>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t("secret.done")}</Button>
        </Group>
      </div>
    </Dialog>
  );
}
