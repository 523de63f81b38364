import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { listAccess, recoverOwner } from "../../../../../../server/features/sign-in/access-contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { useConfirm } from "../../../../../shared/ui/kit/Confirm.tsx";
import { CopyField } from "../../../../../shared/ui/kit/CopyField.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");

/** Gives an owner who cannot sign in any more a way back. */
export function RecoverOwner() {
  const [email, setEmail] = useState("");
  const confirm = useConfirm();
  const recover = useLocalAct(recoverOwner, { changes: [listAccess] });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const agreed = await confirm({
      title: t("access.recoverAsk", { email }),
      text: t("access.recoverText"),
      confirm: t("access.recover"),
      danger: true,
    });
    if (agreed) recover.mutate({ body: { email } });
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <p className="soft">{t("access.recoverHint")}</p>
      <TextInput
        label={t("access.ownerEmail")}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {recover.isError && <Failure error={recover.error} />}
      {recover.isSuccess && (
        <CopyField
          label={t("access.recoverLink")}
          value={recover.data.link}
          description={t("access.recoverUntil", { at: dateTime(recover.data.expiresAt) })}
        />
      )}
      <Button type="submit" variant="default" loading={recover.isPending}>
        {t("access.recover")}
      </Button>
    </form>
  );
}
