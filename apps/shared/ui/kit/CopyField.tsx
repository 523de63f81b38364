import { ActionIcon, Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { translator } from "../../i18n.ts";
import { Eye, EyeOff } from "../icons.tsx";
import { useCopy } from "./useCopy.ts";

const t = translator("common");

type Props = {
  label: string;
  value: string;
  /** Hidden until the person wants to see it. */
  secret?: boolean;
  description?: string;
  /** In a dialog, its button has the focus at first. */
  focused?: boolean;
};

/** A value to take elsewhere: shown, selectable, copied with one press. */
export function CopyField({ label, value, secret = false, description, focused = false }: Props) {
  const { copied, copy } = useCopy();
  const [shown, setShown] = useState(!secret);
  return (
    <div className="copy-field">
      <TextInput
        label={label}
        {...(description ? { description } : {})}
        value={value}
        type={shown ? "text" : "password"}
        autoComplete="off"
        spellCheck={false}
        readOnly
        onFocus={(event) => event.currentTarget.select()}
        classNames={{ input: "copy-field-input" }}
        rightSection={
          secret && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={shown ? t("hide") : t("show")}
              aria-pressed={shown}
              onClick={() => setShown(!shown)}
            >
              {shown ? <EyeOff size={18} /> : <Eye size={18} />}
            </ActionIcon>
          )
        }
      />
      <Button
        variant="default"
        {...(focused && { "data-autofocus": true })}
        onClick={async () => {
          // Only what can be seen can be selected and copied by hand.
          if (!(await copy(value))) setShown(true);
        }}
      >
        {copied ? t("copied") : t("copy")}
      </Button>
      <span className="spoken" role="status">
        {copied ? t("copied") : ""}
      </span>
    </div>
  );
}
