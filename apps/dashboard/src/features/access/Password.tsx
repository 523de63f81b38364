import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Eye, EyeOff } from "../../../../shared/ui/icons.tsx";

const common = translator("common");

type Props = PasswordInputProps & { kind: "current-password" | "new-password" };

/** A password that can be looked at; password managers know whether it is an old or a new one. */
export function Password({ kind, ...rest }: Props) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      autoComplete={kind}
      size="md"
      required
      withAsterisk={false}
      visible={visible}
      onVisibilityChange={setVisible}
      visibilityToggleIcon={({ reveal }) => (reveal ? <EyeOff size={18} /> : <Eye size={18} />)}
      visibilityToggleButtonProps={{
        "aria-label": visible ? common("hide") : common("show"),
        tabIndex: 0,
        "aria-hidden": false,
      }}
      {...rest}
    />
  );
}
