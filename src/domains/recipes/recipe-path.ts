/** Where the rows about one master recipe stand, those of other domains (rehearsal) too. */
export const RECIPE_PATH = '/api/v1/sites/{site}/recipes/master/{name}';
