import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { AccessFailure } from "./AccessFailure.tsx";
import type { FormState } from "./useFields.ts";

type Props = {
  fields: FormState;
  /** Label of the button that sends the form. */
  action: string;
  /** What to know before filling it in. */
  lead?: string;
  children?: ReactNode;
};

/** The form of an access page: why it did not work, what is asked for, and the one button. */
export function AccessForm({ fields, action, lead, children }: Props) {
  return (
    <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit} noValidate>
      {lead && <p>{lead}</p>}
      <AccessFailure error={fields.failure} />
      {children}
      <Button type="submit" size="md" fullWidth loading={fields.pending}>
        {action}
      </Button>
    </form>
  );
}
