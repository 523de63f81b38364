import { ActionIcon, Menu } from "@mantine/core";
import type { ReactNode } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { AlignLeft, Dots, Minus, Plus, Question, Sidebar } from "../../../../shared/ui/icons.tsx";
import type { Actions } from "./actions.ts";
import { alignments, distributions, sameSizes } from "./align.ts";
import { PageNumber } from "./PageNumber.tsx";
import { useRoleName } from "./role-names.ts";
import type { Zooming } from "./useZoom.ts";
import { roleColor } from "./words.ts";

type Props = {
  page: number;
  pages: number;
  zooming: Zooming;
  /** Whether the thumbnails are shown. */
  rail: boolean;
  onRail: () => void;
  onPage: (page: number) => void;
  roles: readonly string[];
  /** How many items are chosen. */
  selected: number;
  /** null where nothing may be changed. */
  actions: Actions | null;
  onHelp: () => void;
  onCopy: () => void;
};

/** Above the pages: where one is, how large they are shown, and what can be done to what is chosen. */
export function Toolbar(props: Props) {
  const roleName = useRoleName();
  const { page, pages, zooming, rail, onRail, onPage, roles, selected, actions, onHelp, onCopy } = props;
  const t = translator("templates");
  return (
    <div className="canvas-bar" role="toolbar" aria-label={t("canvas.toolbar")}>
      <Tool label={t("canvas.thumbnails")} onClick={onRail} expanded={rail}>
        <Sidebar size={18} />
      </Tool>
      <PageNumber page={page} pages={pages} onPage={onPage} />
      <div className="canvas-tools canvas-zooming">
        <Tool label={t("canvas.zoom.out")} onClick={() => zooming.step(-1)}>
          <Minus size={16} />
        </Tool>
        <Menu position="bottom" withinPortal>
          <Menu.Target>
            <button
              type="button"
              className="canvas-zoom"
              aria-label={t("canvas.zoom.now", { percent: Math.round(zooming.zoom * 100) })}
            >
              {t("canvas.zoom.percent", { percent: Math.round(zooming.zoom * 100) })}
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Entry
              label={t("canvas.zoom.width")}
              keys={t("canvas.combo.fitWidth")}
              onClick={() => zooming.fit("width")}
            />
            <Entry label={t("canvas.zoom.page")} onClick={() => zooming.fit("page")} />
            {[0.5, 1, 1.5, 2, 4].map((zoom) => (
              <Entry
                key={zoom}
                label={t("canvas.zoom.percent", { percent: zoom * 100 })}
                onClick={() => zooming.zoomTo(zoom)}
              />
            ))}
          </Menu.Dropdown>
        </Menu>
        <Tool label={t("canvas.zoom.in")} onClick={() => zooming.step(1)}>
          <Plus size={16} />
        </Tool>
      </div>
      {actions && (
        <div className="canvas-tools">
          <Choices label={t("canvas.arrange")} icon={<AlignLeft size={18} />} disabled={selected < 2}>
            {alignments.map((how) => (
              <Entry
                key={how}
                label={t(`canvas.align.${how}`)}
                keys={t(`canvas.combo.${how}`)}
                onClick={() => actions.align(how)}
              />
            ))}
            <Menu.Divider />
            {distributions.map((how) => (
              <Entry
                key={how}
                label={t(`canvas.distribute.${how}`)}
                keys={t(`canvas.combo.${how}`)}
                disabled={selected < 3}
                onClick={() => actions.distribute(how)}
              />
            ))}
            <Menu.Divider />
            {sameSizes.map((what) => (
              <Entry
                key={what}
                label={t(`canvas.same.${what}`)}
                keys={t(`canvas.combo.${what}`)}
                onClick={() => actions.equal(what)}
              />
            ))}
          </Choices>
          <Choices label={t("canvas.chosen")} icon={<Dots size={18} />} disabled={selected < 1}>
            <Entry label={t("canvas.duplicate")} keys={t("canvas.combo.duplicate")} onClick={actions.duplicate} />
            <Entry label={t("canvas.copyToPages")} disabled={pages < 2} onClick={onCopy} />
            <Entry label={t("canvas.remove")} keys={t("canvas.combo.remove")} onClick={actions.remove} />
            <Menu.Label>{t("canvas.assign")}</Menu.Label>
            {roles.map((role) => (
              <Menu.Item
                key={role}
                leftSection={<span className="swatch" data-color={roleColor(roles, role)} />}
                onClick={() => actions.assign(role)}
              >
                {roleName(role)}
              </Menu.Item>
            ))}
          </Choices>
        </div>
      )}
      <Tool label={t("canvas.keys.title")} onClick={onHelp} last>
        <Question size={18} />
      </Tool>
    </div>
  );
}

type ToolProps = { label: string; onClick: () => void; last?: boolean; expanded?: boolean; children: ReactNode };

function Tool({ label, onClick, last, expanded, children }: ToolProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={30}
      aria-label={label}
      title={label}
      aria-expanded={expanded}
      onClick={onClick}
      className={last ? "canvas-last" : undefined}
    >
      {children}
    </ActionIcon>
  );
}

function Choices({
  label,
  icon,
  disabled,
  children,
}: {
  label: string;
  icon: ReactNode;
  disabled: boolean;
  children: ReactNode;
}) {
  return (
    <Menu position="bottom-start" withinPortal disabled={disabled}>
      <Menu.Target>
        <button type="button" className="canvas-choices" disabled={disabled} title={label}>
          {icon}
          <span>{label}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

type EntryProps = { label: string; keys?: string; disabled?: boolean; onClick: () => void };

function Entry({ label, keys, disabled = false, onClick }: EntryProps) {
  return (
    <Menu.Item disabled={disabled} onClick={onClick} rightSection={keys && <kbd className="canvas-keys">{keys}</kbd>}>
      {label}
    </Menu.Item>
  );
}
