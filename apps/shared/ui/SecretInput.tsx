import { PasswordInput } from "@mantine/core";
import { type ComponentProps, useState } from "react";
import { translator } from "../i18n.ts";
import { Eye, EyeOff } from "./icons.tsx";

const common = translator("common");

/** A masked field whose value can be shown by mouse or keyboard. */
export function SecretInput(props: ComponentProps<typeof PasswordInput>) {
  const [visible, setVisible] = useState(false);
  return (
    <PasswordInput
      visible={visible}
      onVisibilityChange={setVisible}
      visibilityToggleIcon={({ reveal }) => (reveal ? <EyeOff size={18} /> : <Eye size={18} />)}
      visibilityToggleButtonProps={{
        "aria-label": visible ? common("hide") : common("show"),
        tabIndex: 0,
        "aria-hidden": false,
      }}
      {...props}
    />
  );
}
