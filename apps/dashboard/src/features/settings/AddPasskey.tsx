import { Button, Group, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { listPasskeys } from "../../../../../server/features/sign-in/passkeys/contract.ts";
import { NoAnswer, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { wasCancelled } from "../access/passkey.ts";
import { readUserAgent } from "./device.ts";
import { addPasskey, isRegistered } from "./passkey-registration.ts";

/** Asks for a name, then lets the browser make the passkey. */
export function AddPasskey() {
  const t = translator("settings");
  const queries = useQueryClient();
  const fresh = useFresh();
  const [name, setName] = useState<string | null>(null);
  /** The focus comes back to the button that opened the form. */
  const [opened, setOpened] = useState(false);
  const add = useMutation<unknown, Error, string>({
    mutationFn: (chosen) => fresh(() => addPasskey(chosen)),
    onSuccess: async () => {
      setName(null);
      notify({ message: t("account.passkeys.done") });
      await queries.invalidateQueries({ queryKey: [listPasskeys.id] });
    },
  });

  if (name === null) {
    const begin = () => {
      add.reset();
      setOpened(true);
      setName(readUserAgent(navigator.userAgent).system ?? t("account.passkeys.thisDevice"));
    };
    return (
      <div>
        <Button variant="default" autoFocus={opened} onClick={begin}>
          {t("account.passkeys.add")}
        </Button>
      </div>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") add.mutate(name.trim());
  };
  return (
    <form className="account-form" onSubmit={submit}>
      <TextInput
        label={t("account.passkeys.name")}
        description={t("account.passkeys.nameHint")}
        maxLength={100}
        autoFocus
        value={name}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {add.isError && <AddFailure error={add.error} />}
      <Group>
        <Button type="submit" disabled={name.trim() === ""} loading={add.isPending}>
          {t("account.passkeys.continue")}
        </Button>
        <Button variant="default" onClick={() => setName(null)} disabled={add.isPending}>
          {translator("common")("cancel")}
        </Button>
      </Group>
    </form>
  );
}

function AddFailure({ error }: { error: Error }) {
  const t = translator("settings");
  if (error instanceof ProblemResponse || error instanceof NoAnswer) return <Failure error={error} />;
  const reason = wasCancelled(error) ? "cancelled" : isRegistered(error) ? "registered" : "failed";
  return (
    <p className={reason === "cancelled" ? "soft account-note" : "notice bad"} role="alert">
      {t(`account.passkeys.${reason}`)}
    </p>
  );
}
