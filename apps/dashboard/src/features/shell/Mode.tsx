import { SegmentedControl } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { translator } from "../../../../shared/i18n.ts";
import { Flask } from "../../../../shared/ui/icons.tsx";
import { mayRedraw } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useMode } from "../../mode.tsx";
import { useSession } from "../../session.tsx";

const t = translator("shell");

/** Changes the world; an open envelope or webhook endpoint belongs to the other one and is left. */
function useSwitch(): (testMode: boolean) => Promise<void> {
  const { setTestMode } = useMode();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  return async (testMode) => {
    if (!(await mayRedraw("mode"))) return;
    setTestMode(testMode);
    if (pathname.startsWith("/envelopes/")) await navigate({ to: "/envelopes" });
    if (pathname.startsWith("/settings/webhooks/whe_")) await navigate({ to: "/settings/webhooks" });
  };
}

/** Live or test, always in sight. */
export function ModeSwitch() {
  const { testMode } = useMode();
  const change = useSwitch();
  if (!useSession().organization) return null;
  return (
    <SegmentedControl
      className="mode-switch"
      aria-label={t("mode.label")}
      size="xs"
      fullWidth
      value={testMode ? "test" : "live"}
      onChange={(value) => void change(value === "test")}
      data={[
        { value: "live", label: t("mode.live") },
        { value: "test", label: t("mode.test") },
      ]}
    />
  );
}

/** Over the whole width, in stripes and words: what is done here is not real. */
export function ModeBand() {
  const { testMode } = useMode();
  const change = useSwitch();
  if (!useSession().organization) return null;
  return (
    <div className="mode-band-place" role="status">
      {testMode && (
        <div className="mode-band">
          <span className="mode-band-words">
            <Flask size={18} />
            <strong>{t("mode.band")}</strong>
            <span className="mode-band-text">{t("mode.bandText")}</span>
          </span>
          <button type="button" onClick={() => void change(false)}>
            {t("mode.leave")}
          </button>
        </div>
      )}
    </div>
  );
}
