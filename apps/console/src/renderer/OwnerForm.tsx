import { Button, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { translator } from "../../../shared/i18n.ts";
import { Failure } from "./Failure.tsx";

const t = translator("console");

type Props = {
  submitLabel: string;
  pending: boolean;
  error: Error | null;
  /** Resolves to whether it was done: the fields are then empty for the next one. */
  onSubmit: (given: { organization: string; email: string }) => Promise<boolean>;
  /** What came of it, above the button. */
  children?: ReactNode;
};

/** An organization and the person who owns it: in the setup, and whenever another one is made. */
export function OwnerForm({ submitLabel, pending, error, onSubmit, children }: Props) {
  const [organization, setOrganization] = useState("");
  const [email, setEmail] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await onSubmit({ organization, email }))) return;
    setOrganization("");
    setEmail("");
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)}>
      <TextInput
        label={t("organizations.organization")}
        required
        maxLength={200}
        value={organization}
        onChange={(event) => setOrganization(event.currentTarget.value)}
      />
      <TextInput
        label={t("organizations.ownerEmail")}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {error && <Failure error={error} />}
      {children}
      <Button type="submit" loading={pending}>
        {submitLabel}
      </Button>
    </form>
  );
}
