import { Button } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { useCopy } from "../../../../shared/ui/kit/useCopy.ts";
import "./webhooks.css";

type Props = {
  /** What it is, for screen readers. */
  label: string;
  text: string;
  /** Label of the button that copies it; none without. */
  copy?: string;
};

/** Text of a program as it is written, to be read and copied. */
export function Code({ label, text, copy: copyLabel }: Props) {
  const { copied, copy } = useCopy();
  const t = translator("common");
  return (
    <div className="webhook-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <section tabIndex={0} aria-label={label} dir="ltr">
        <pre>{text}</pre>
      </section>
      {copyLabel !== undefined && (
        <Button size="compact-sm" variant="default" onClick={() => void copy(text)}>
          {copied ? t("copied") : copyLabel}
        </Button>
      )}
      <span className="spoken" role="status">
        {copied ? t("copied") : ""}
      </span>
    </div>
  );
}
