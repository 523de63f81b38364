import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { reassignSigning } from "../../../../../server/features/signing/contract.ts";
import { Email } from "../../../../../server/kernel/wire.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { useRefusals } from "../../../../shared/ui/kit/useRefusals.ts";
import type { ScreenProps } from "../../routes.tsx";
import { isOver } from "./over.ts";

type Person = { name: string; email: string };
type Props = ScreenProps & { onClose: () => void; onPassed: (person: Person) => Promise<void> };
type Values = Person & { reason: string };
type Errors = Partial<Record<keyof Values, string>>;

/** Asks who signs instead, then shows what will happen: it cannot be taken back from here. */
export function ReassignDialog({ view, access, reload, onClose, onPassed }: Props) {
  const t = translator("sign");
  const [values, setValues] = useState<Values>({ name: "", email: "", reason: "" });
  const [errors, setErrors] = useState<Errors>({});
  const [checking, setChecking] = useState(false);
  const { form, refuse: moveFocus } = useRefusals();
  const to = { name: values.name.trim(), email: values.email.trim(), reason: values.reason.trim() };
  const refuse = (found: Errors) => {
    setErrors(found);
    setChecking(false);
    moveFocus();
  };
  const pass = useMutation({
    mutationFn: () => callEndpoint(reassignSigning, { token: access.token, body: to }),
    onSuccess: () => onPassed(to),
    onError: (error) => {
      if (isOver(error)) return void reload();
      const told = fieldErrors(error);
      const found: Errors = {};
      for (const name of ["name", "email", "reason"] as const) {
        const detail = told[`#/${name}`];
        if (detail !== undefined) found[name] = detail;
      }
      if (Object.keys(found).length > 0) refuse(found);
    },
  });
  const busy = pass.isPending || pass.isSuccess;
  const check = (event: FormEvent) => {
    event.preventDefault();
    const found: Errors = {};
    if (to.name === "") found.name = t("reassign.noName");
    if (!Email.safeParse(to.email).success) found.email = t("reassign.noEmail");
    else if (to.email.toLowerCase() === view.recipient.email.toLowerCase()) found.email = t("reassign.ownEmail");
    if (to.reason === "") found.reason = t("reassign.noReason");
    pass.reset();
    if (Object.keys(found).length > 0) return refuse(found);
    setErrors({});
    setChecking(true);
  };
  const bind = (name: keyof Values) => ({
    name,
    value: values[name],
    error: errors[name],
    // The form says what is missing, in the page's language, and keeps the keyboard where it is.
    withAsterisk: true,
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setValues((before) => ({ ...before, [name]: value }));
      setErrors(({ [name]: _, ...others }) => others);
    },
  });
  return (
    <Dialog
      opened
      onClose={onClose}
      busy={busy}
      title={t(checking ? "reassign.checkTitle" : "reassign.title")}
      centered
    >
      {checking ? (
        <>
          <p className="tight">
            <b dir="auto">{to.name}</b>
            <br />
            <bdi>{to.email}</bdi>
          </p>
          <ul className="consequences">
            <li>{t("reassign.mail", { name: to.name, title: view.envelope.title })}</li>
            <li>{t("reassign.ends")}</li>
            <li>{t("reassign.told", { organization: view.sender.organization })}</li>
          </ul>
          {pass.isError && <Failure error={pass.error} />}
          <div className="actions">
            <Button variant="default" onClick={() => setChecking(false)} disabled={busy}>
              {t("reassign.back")}
            </Button>
            <Button data-autofocus autoFocus loading={busy} onClick={() => pass.mutate()}>
              {t("reassign.confirm")}
            </Button>
          </div>
        </>
      ) : (
        <form ref={form} onSubmit={check} noValidate className="stack-fields">
          <p className="tight">{t("reassign.intro")}</p>
          <TextInput data-autofocus label={t("reassign.name")} maxLength={200} autoComplete="off" {...bind("name")} />
          <TextInput
            type="email"
            inputMode="email"
            label={t("reassign.email")}
            maxLength={254}
            autoComplete="off"
            {...bind("email")}
          />
          <Textarea
            label={t("reassign.reason")}
            description={t("reassign.reasonHint", { organization: view.sender.organization })}
            maxLength={1000}
            autosize={false}
            rows={3}
            {...bind("reason")}
          />
          <div className="actions">
            <Button variant="default" onClick={onClose}>
              {t("reassign.keep")}
            </Button>
            <Button type="submit">{t("reassign.next")}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
