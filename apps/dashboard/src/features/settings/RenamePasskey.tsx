import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { listPasskeys, type Passkey, renamePasskey } from "../../../../../server/features/sign-in/passkeys/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";

/** Gives a passkey another name, in its place in the list. */
export function RenamePasskey({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const t = translator("settings");
  const [name, setName] = useState(passkey.name);
  const rename = useAct(renamePasskey, { changes: [listPasskeys] });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    try {
      await rename.mutateAsync({ params: { id: passkey.id }, body: { name: name.trim() } });
      onClose();
    } catch {
      // Shown in the form.
    }
  };
  return (
    <form className="account-form" onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t("account.passkeys.name")}
        maxLength={100}
        autoFocus
        value={name}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
        }}
      />
      {rename.isError && <Failure error={rename.error} />}
      <Group>
        <Button type="submit" disabled={name.trim() === ""} loading={rename.isPending}>
          {t("account.save")}
        </Button>
        <Button variant="default" onClick={onClose} disabled={rename.isPending}>
          {translator("common")("cancel")}
        </Button>
      </Group>
    </form>
  );
}
