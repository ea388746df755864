/** Who changed a template that a released recipe reaches is written on the recipe (D-C-11): the template itself knows only when. */
import type { Companions, Written } from '../../platform/store/kind.js';
import type { Put } from '../../platform/store/store.js';
import { MasterRecipe, RecipeRevision } from '../recipes/kind.js';

export function templateEdited(kind: string): (written: Written<never, never>) => Companions<never> {
  return ({ name, site, before, read, by }) => {
    if (!before) return {};
    const puts = read.list(MasterRecipe, site).flatMap(({ metadata, status }): Put[] => {
      const revision = read.get(RecipeRevision, site, `${metadata.name}.r${status.revision}`)?.spec;
      if (!revision?.released?.some((template) => template.kind === kind && template.name === name)) return [];
      const others = (status.templateEdits ?? []).filter((edit) => edit.kind !== kind || edit.name !== name);
      return [{ kind: MasterRecipe, site, name: metadata.name, status: { ...status, templateEdits: [...others, { kind, name, by }] } } as Put];
    });
    return { puts };
  };
}
