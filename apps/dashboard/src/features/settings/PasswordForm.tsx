import { Button, Group } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { passwordLength } from "../../../../../server/features/identity/contract.ts";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { changePassword, listSessions, setPassword } from "../../../../../server/features/sign-in/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { useFresh } from "../../../../shared/ui/kit/useFresh.tsx";
import { sessionQuery, useSession } from "../../session.tsx";
import { Password } from "../access/Password.tsx";
import { PasswordStrength } from "./PasswordStrength.tsx";

/** Chooses a new password; the present one proves who sits here, where there is one. */
export function PasswordForm({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const t = translator("settings");
  const { user } = useSession();
  const queries = useQueryClient();
  const fresh = useFresh();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [checked, setChecked] = useState(false);
  const options = {
    changes: [listSessions],
    onDone: (session: DashboardSession) => queries.setQueryData(sessionQuery.queryKey, session),
  };
  const set = useAct(setPassword, options);
  const change = useAct(changePassword, options);
  const { error, isPending } = user.hasPassword ? change : set;
  const errors = fieldErrors(error);
  const tooShort = [...next].length < passwordLength.min;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (tooShort || (user.hasPassword && current === "")) return;
    try {
      if (user.hasPassword) await change.mutateAsync({ body: { currentPassword: current, password: next } });
      else await fresh(() => set.mutateAsync({ body: { password: next } }));
      onDone();
    } catch {
      // Shown in the form.
    }
  };

  return (
    <form className="account-form" onSubmit={(event) => void submit(event)} noValidate>
      {/* Tells password managers whose password it is. */}
      <input
        className="spoken"
        type="text"
        autoComplete="username"
        value={user.email}
        readOnly
        tabIndex={-1}
        aria-hidden
      />
      {user.hasPassword && (
        <Password
          kind="current-password"
          size="sm"
          label={t("account.password.current")}
          autoFocus
          maxLength={1024}
          value={current}
          error={checked && current === "" ? t("account.password.currentMissing") : errors["#/currentPassword"]}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
      )}
      <div>
        <Password
          kind="new-password"
          size="sm"
          autoFocus={!user.hasPassword}
          label={t("account.password.new")}
          description={t("account.password.hint")}
          maxLength={passwordLength.max}
          value={next}
          error={
            checked && tooShort ? t("account.password.tooShort", { count: passwordLength.min }) : errors["#/password"]
          }
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <PasswordStrength length={[...next].length} />
      </div>
      <p className="soft account-note">{t("account.password.ends")}</p>
      {error !== null && !errors["#/currentPassword"] && !errors["#/password"] && <Failure error={error} />}
      <Group>
        <Button type="submit" loading={isPending}>
          {t("account.password.save")}
        </Button>
        <Button variant="default" onClick={onClose} disabled={isPending}>
          {translator("common")("cancel")}
        </Button>
      </Group>
    </form>
  );
}
