import type { ComponentProps } from "react";
import { SecretInput } from "../../../../shared/ui/SecretInput.tsx";

type Props = ComponentProps<typeof SecretInput> & { kind: "current-password" | "new-password" };

/** A password that can be looked at; password managers know whether it is an old or a new one. */
export function Password({ kind, ...rest }: Props) {
  return <SecretInput autoComplete={kind} size="md" required withAsterisk={false} {...rest} />;
}
