import { Button, Menu } from "@mantine/core";
import type { SigningView } from "../../../../../server/features/signing/contract.ts";
import { translator } from "../../../../shared/i18n.ts";

export type WayOut = "decline" | "reassign";

/** What else somebody may do than sign: a button for one way, a menu for several. */
export function WaysOut({ view, onAsk }: { view: SigningView; onAsk: (way: WayOut) => void }) {
  const t = translator("sign");
  if (!view.allowReassign) {
    if (!view.allowDecline) return null;
    return (
      <Button variant="subtle" color="gray" onClick={() => onAsk("decline")} className="decline">
        {t("decline.open")}
      </Button>
    );
  }
  return (
    <Menu position="bottom-end" withinPortal={false} returnFocus>
      <Menu.Target>
        <Button variant="subtle" color="gray" className="decline">
          {t("options")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onAsk("reassign")}>{t("reassign.open")}</Menu.Item>
        {view.allowDecline && <Menu.Item onClick={() => onAsk("decline")}>{t("decline.open")}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
