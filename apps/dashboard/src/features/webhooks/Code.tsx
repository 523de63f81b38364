import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { translator } from "../../../../shared/i18n.ts";
import "./webhooks.css";

type Props = {
  /** What it is, for screen readers. */
  label: string;
  text: string;
  /** Label of the button that copies it; none without. */
  copy?: string;
};

/** Text of a program as it is written, to be read and copied. */
export function Code({ label, text, copy }: Props) {
  const clipboard = useClipboard({ timeout: 3000 });
  const t = translator("common");
  return (
    <div className="webhook-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section tabIndex={0} aria-label={label} dir="ltr">
        <pre>{text}</pre>
      </section>
      {copy !== undefined && (
        <Button size="compact-sm" variant="default" onClick={() => clipboard.copy(text)}>
          {clipboard.copied ? t("copied") : copy}
        </Button>
      )}
      <span className="spoken" role="status">
        {clipboard.copied ? t("copied") : ""}
      </span>
    </div>
  );
}
