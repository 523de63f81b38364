import { Button, Checkbox, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { listAccess, revokeAccess } from "../../../../../../server/features/sign-in/access-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct } from "../../local.ts";

const t = translator("console");

/** Ends everything that one person holds: for someone who left, or whose device was lost. */
export function RevokePerson() {
  const [email, setEmail] = useState("");
  const [keys, setKeys] = useState(false);
  const revoke = useLocalAct(revokeAccess, {
    changes: [listAccess],
    onDone: (ended) => {
      notify({
        message: `${t("access.endedSessions", { count: ended.sessions })} ${t("access.endedKeys", { count: ended.keys })}`,
      });
      setEmail("");
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    revoke.mutate({ body: { email, keys } });
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label={t("access.email")}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Checkbox
        label={t("access.alsoKeys")}
        description={t("access.alsoKeysHint")}
        checked={keys}
        onChange={(event) => setKeys(event.currentTarget.checked)}
      />
      {revoke.isError && <Failure error={revoke.error} />}
      <Button type="submit" variant="default" loading={revoke.isPending}>
        {t("access.endAll")}
      </Button>
    </form>
  );
}
