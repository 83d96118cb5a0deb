"""Which clips may teach and which may only judge; neither picture nor sound of the second kind is ever
trained on.
"""

TRAINING_CLIPS = (
    "g_bbaf2n_grid_360x288",
    "g_brbk7n_grid_360x288",
    "g_lbax4n_grid_360x288",
    "g_lrwp9a_grid_360x288",
    "g_lwbsza_grid_360x288",
    "g_pwij3p_grid_360x288",
)
HELDOUT_CLIPS = (
    "g_swiz3n_grid_360x288",
    "g_lbbc2a_grid_360x288",
    "g_sbia1a_grid_360x288",
    "g_sbwe5n_grid_360x288",
    "g_swwp2s_grid_360x288",
    "h_man_address_450_20s",
    "i_older_man_458",
    "l_man_couch_1080x1920",
    "l_woman_garden_1080x1920",
)
# Frames by which the sound of a file lies behind its picture; GRID files are in time.
SOUND_LAG_FRAMES = {
    "h_man_address_450_20s": 6,
    "i_older_man_458": -2,
    "l_man_couch_1080x1920": 3,
}
