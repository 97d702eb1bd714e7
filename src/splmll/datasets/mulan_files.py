"""The files of Mulan's data sets: their names, checksums and download addresses."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MulanFiles:
    """The files of one set.

    Parameters
    ----------
    folders : tuple of str
        Folders of the source to try.
    sha256 : dict of str to str
        File name -> checksum: the training and the test part, or one file with all rows, and at
        last the XML file with the names of the labels.
    aliases : dict of str to tuple of str
        Names that a file goes by at the source, where they differ from ours.

    Examples
    --------
    >>> from splmll.datasets.mulan_files import MULAN_FILES
    >>> MULAN_FILES["scene"].parts, MULAN_FILES["scene"].labels
    (('scene-train.arff', 'scene-test.arff'), 'scene.xml')
    """

    folders: tuple[str, ...]
    sha256: dict[str, str]
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all files."""
        return tuple(self.sha256)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the files with rows."""
        return self.names[:-1]

    @property
    def labels(self) -> str:
        """Name of the XML file."""
        return self.names[-1]

    def urls(self, file: str, source: str) -> list[str]:
        """Return the addresses under which a file may be found, the likeliest first."""
        names = (file, *self.aliases.get(file, ()))
        return [f"{source}/{folder}/{name}" for folder in self.folders for name in names]


MULAN_FILES = {
    "emotions": MulanFiles(
        folders=("emotions",),
        sha256={
            "emotions-train.arff": (
                "bbe704106c79bb8fb99c1d1d2e9bde081d6a2daeb01f100862f11fd91a3c1f98"
            ),
            "emotions-test.arff": (
                "f13d4b746b7b5c8eb484bd751d6ac463d4560dff998a93516a5c1fe35daf6c8f"
            ),
            "emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        },
    ),
    "scene": MulanFiles(
        folders=("scene",),
        sha256={
            "scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
            "scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
            "scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        },
    ),
    "yeast": MulanFiles(
        folders=("yeast",),
        sha256={
            "yeast-train.arff": "e759dc991ff54694a4ff9c4314f3be0d6fd2b1994a4b563f57e416394c6aebbd",
            "yeast-test.arff": "4aaac102bff9669a765bf0b378602e5cc8c3b181048282e2f003117b496d552a",
            "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        },
    ),
    "tmc2007": MulanFiles(
        # The source has kept the set under both names.
        folders=("tmc2007-500", "tmc2007"),
        aliases={"tmc2007-500.xml": ("tmc2007.xml",)},
        sha256={
            "tmc2007-500-train.arff": (
                "edfe7b7615c6f80e54c92a214437610d1ae36560c5cc6c4253b51c434d258273"
            ),
            "tmc2007-500-test.arff": (
                "b24f9c3f1eba77c9da0bbaff093ba41d331b7351be0167a8e1e3852c62e25e38"
            ),
            "tmc2007-500.xml": "cb6a67c8ae72fd9b47d89f77aa5b7f6cafb4ba9c20b1124c65a95a3f2caec38d",
        },
    ),
    "bibtex": MulanFiles(
        folders=("bibtex",),
        sha256={
            "bibtex-train.arff": "8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174",
            "bibtex-test.arff": "9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922",
            "bibtex.xml": "08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
        },
    ),
    "delicious": MulanFiles(
        folders=("delicious",),
        sha256={
            "delicious-train.arff": (
                "030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1"
            ),
            "delicious-test.arff": (
                "2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944"
            ),
            "delicious.xml": "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
        },
    ),
    "birds": MulanFiles(
        folders=("birds",),
        sha256={
            "birds-train.arff": "8f215db6ee163149901e753977f631ba8bea0e0e8e1abc42b234414822f8ae36",
            "birds-test.arff": "51ba6326d65ccdd7c755b6461280eb6d2769c7f59d8e12fd4250f91e6ca28326",
            "birds.xml": "0f4ea547b2b3d538c8402662daf689e0d4520cc8b4f5ba113c2e7c01700f010f",
        },
    ),
    "genbase": MulanFiles(
        folders=("genbase",),
        sha256={
            "genbase-train.arff": (
                "37670db2c2b308a1c163d05501819526f1d65d659638ddfb76812d4ce384b5c6"
            ),
            "genbase-test.arff": "0e988520bedab39aa3f23f08f646c769bcdb6f9119ee298fd92b37127b226a36",
            "genbase.xml": "198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
        },
    ),
    "flags": MulanFiles(
        folders=("flags",),
        sha256={
            "flags-train.arff": "1861cdab7f8baf1aef6fb6198f304465ddfd99b7f9a435337c604119522df3c5",
            "flags-test.arff": "09f6136fae47dcc2f0f491efd6401a11072cbfb0bfbb2666c63b35bb06aeeb16",
            "flags.xml": "7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
        },
    ),
    "cal500": MulanFiles(
        folders=("cal500",),
        sha256={
            "cal500.arff": "cfe6097ba5fd6e8584e54911ab9783dcab34e898446b7c9370c71d477eae56d3",
            "cal500.xml": "877e128531268d7661faa3e44f7bb43cbcda829c0895e49879168775b192728c",
        },
    ),
}
