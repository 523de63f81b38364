import { Button, Menu } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { useEditing } from "./editing.ts";
import { problemText } from "./problem-text.ts";
import { useShowPlace } from "./useShowPlace.ts";
import { placeName } from "./words.ts";

/** What is still to be fixed before publishing, known before anybody presses the button. An entry leads to its field. */
export function ProblemsMenu({ onSelect }: { onSelect: (id: string) => void }) {
  const t = translator("templates");
  const { problems } = useEditing();
  const show = useShowPlace(onSelect);
  if (problems.length === 0) return null;
  return (
    <Menu position="bottom-start" withinPortal width="min(24rem, calc(100vw - 1rem))" returnFocus={false}>
      <Menu.Target>
        <Button size="compact-sm" variant="default" className="problems-open">
          {t("publish.todo", { count: problems.length })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="problems-list">
        <Menu.Label>{t("publish.todoTitle")}</Menu.Label>
        {problems.map((problem) => {
          const { place, member, detail } = problem;
          const name = placeName(t, problem);
          const id = place.kind === "item" ? place.item.id : "";
          return (
            <Menu.Item key={`${id} ${name} ${member} ${detail}`} onClick={() => show(place)}>
              <b>{name}</b>
              <br />
              {problemText(detail)}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
