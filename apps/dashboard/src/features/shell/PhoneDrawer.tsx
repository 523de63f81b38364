import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Brand } from "../../../../shared/ui/Brand.tsx";

const common = translator("common");

/** The side of the workspace where there is no room for it. */
export function PhoneDrawer(props: { opened: boolean; onClose: () => void; children: ReactNode }) {
  return (
    <Drawer
      opened={props.opened}
      onClose={props.onClose}
      size={300}
      title={<Brand />}
      closeButtonProps={{ "aria-label": common("close") }}
      classNames={{ body: "side side-drawer", content: "side-drawer-content" }}
    >
      {props.children}
    </Drawer>
  );
}
