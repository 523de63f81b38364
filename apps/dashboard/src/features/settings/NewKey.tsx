import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { ApiKeyCreated } from "../../../../../server/features/identity/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";

/** The only time that the secret is shown. Closing asks whether it was kept. */
export function NewKey({ created, onClose }: { created: ApiKeyCreated; onClose: () => void }) {
  const t = translator("settings");
  const confirm = useConfirm();
  const [asking, setAsking] = useState(false);
  const origin = window.location.origin;
  const curl = `curl -H "Authorization: Bearer ${created.key}" ${origin}/v1/templates`;
  const close = async () => {
    if (asking) return;
    setAsking(true);
    const kept = await confirm({
      title: t("keys.closeTitle"),
      text: t("keys.closeText"),
      confirm: t("keys.closeConfirm"),
      cancel: t("keys.closeBack"),
    });
    setAsking(false);
    if (kept) onClose();
  };
  return (
    <Dialog
      // The question stands in front of it.
      opened={!asking}
      onClose={() => void close()}
      closeOnClickOutside={false}
      title={t("keys.made", { name: created.name })}
      size="lg"
    >
      <div className="key-form">
        <p className="notice">{t("keys.once")}</p>
        <CopyField label={t("keys.secret")} value={created.key} />
        <CopyField label={t("keys.curl")} value={curl} description={t("keys.curlHint")} />
        <Group justify="flex-end">
          <Button onClick={() => void close()}>{t("keys.finished")}</Button>
        </Group>
      </div>
    </Dialog>
  );
}
